"""Counts what must not grow, and holds it against ceilings that only fall.

    python -m tests.ratchet [--lower | --places COUNT] [--tree DIR]

prints each count beside its ceiling. `--lower` writes the counts that are below their ceilings into CEILINGS; it raises
none. `--places` lists where a count comes from. `--tree` counts another checkout. The rule of each count stands in
CEILINGS above its ceiling.
"""

import argparse
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.code_counts import ClassFacts, FileFacts, FunctionFacts, Parameter, read_file
from tests.prose_counts import MOST_WORDS, document_paragraphs, is_riddle, sentences, word_count

ROOT = Path(__file__).parents[1]
CEILINGS = ROOT / "tests" / "data" / "ratchet.toml"
PACKAGES = ("dht", "crawl", "store", "index", "node", "bootstrap")
EXTRAS, EXTRAS_TESTS, EXTRAS_MODULE = "node/extras/", "tests/node/extras/", "node.extras"
DOCUMENT_FOLDERS = (".", "docs", "examples", "contrib", "packaging")
MOST_FILES, MOST_LINES, MOST_PARAMETERS, MOST_METHODS = 24, 350, 8, 25


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a checkout. `prose`: the sentences of its documents, each with its place."""

    core: Sequence[FileFacts]
    extras: Sequence[FileFacts]
    tests: Sequence[FileFacts]
    benchmarks: Sequence[FileFacts]
    prose: Sequence[tuple[str, str]]

    @property
    def product(self) -> Iterator[FileFacts]:
        """The core and the extras."""
        yield from self.core
        yield from self.extras


@dataclass(frozen=True, slots=True)
class Count:
    """A number, and the places that it comes from, where there are such."""

    number: int
    places: Sequence[str] = ()


def read_tree(root: Path) -> Tree:
    """Read all files of a checkout that are counted."""

    def read(folder: str) -> list[FileFacts]:
        return [read_file(path, path.relative_to(root).as_posix()) for path in sorted((root / folder).rglob("*.py"))]

    product = [file for package in PACKAGES for file in read(package)]
    return Tree(
        core=[file for file in product if not file.path.startswith(EXTRAS)],
        extras=[file for file in product if file.path.startswith(EXTRAS)],
        tests=read("tests"),
        benchmarks=read("benchmarks"),
        prose=list(_document_sentences(root)),
    )


def counts(tree: Tree) -> dict[str, Count]:
    """Return all counts of a tree by their names in CEILINGS."""
    return {
        "core_code_lines": Count(sum(file.code_lines for file in tree.core)),
        "extras_code_lines": Count(sum(file.code_lines for file in tree.extras)),
        "core_test_lines": Count(sum(file.lines for file in tree.tests if not file.path.startswith(EXTRAS_TESTS))),
        "extras_test_lines": Count(sum(file.lines for file in tree.tests if file.path.startswith(EXTRAS_TESTS))),
        "strategy_fields": _placed(_strategy_fields(tree)),
        "message_classes": _placed(_messages(tree)),
        "background_tasks": _placed(f"{f.path}:{line}" for f in tree.core for line in f.node_tasks),
        "task_starts": _placed(f"{f.path}:{line}" for f in tree.product for line in f.task_starts),
        "large_folders": _placed(_large_folders(tree)),
        "long_files": _placed(f"{f.path}: {f.lines}" for f in tree.product if f.lines > MOST_LINES),
        "long_parameter_lists": _placed(_long_parameter_lists(list(tree.product))),
        "large_classes": _placed(_large_classes(tree)),
        "imports_of_extras": _placed(_imports_of_extras(tree)),
        "long_sentences_in_code": _placed(_long_sentences(tree.product)),
        "long_sentences_in_tests": _placed(_long_sentences([*tree.tests, *tree.benchmarks])),
        "long_sentences_in_documents": _placed(
            f"{place}: {text}" for place, text in tree.prose if word_count(text) > MOST_WORDS
        ),
        "riddles_in_code": _placed(_riddles(tree.product)),
        "riddles_in_tests": _placed(_riddles([*tree.tests, *tree.benchmarks])),
    }


def ceilings(path: Path = CEILINGS) -> dict[str, int]:
    """Return the ceilings by the names of their counts."""
    found: dict[str, int] = tomllib.loads(path.read_text("utf-8"))["ceilings"]
    return found


def lowered(text: str, numbers: Mapping[str, int]) -> str:
    """Return the text of a file of ceilings with those lowered that are above these numbers."""

    def lower(found: re.Match[str]) -> str:
        name, ceiling = found[1], int(found[2].replace("_", ""))
        return f"{name} = {min(ceiling, numbers.get(name, ceiling))}"

    return re.sub(r"^(\w+) = ([\d_]+)$", lower, text, flags=re.M)


def bundles(files: Sequence[FileFacts]) -> dict[str, int]:
    """Return the classes that exist only to carry arguments of constructors, each with the number of its fields.

    Such a class is made of its fields, and has at most one method. Constructors take it, and nothing else does: no
    function has it as a parameter or returns it. Settings (`…Config`) are none, since they are read from a file.
    """
    taken, used = Counter[str](), set[str]()
    for file in files:
        for each in file.classes:
            if each.is_data:
                used |= {name for method in each.methods for p in method.parameters for name in p.types}
                if each.acts:
                    taken.update(name for p in each.fields for name in p.types)
            for method in each.methods:
                names = {name for p in method.parameters for name in p.types}
                if method.name == "__init__":
                    taken.update(names)
                else:
                    used |= names | (method.returned - {each.name})
        for function in file.functions:
            used |= {name for p in function.parameters for name in p.types} | function.returned
    every = (each for file in files for each in file.classes)
    return {
        each.name: len(each.fields) for each in every if _may_carry(each) and taken[each.name] and each.name not in used
    }


def _may_carry(each: ClassFacts) -> bool:
    methods = [method for method in each.methods if not method.is_property and not method.name.startswith("__")]
    return each.is_data and len(methods) <= 1 and not each.name.endswith("Config")


def _long_parameter_lists(files: Sequence[FileFacts]) -> Iterator[str]:
    carried = bundles(files)

    def size(parameters: Iterable[Parameter]) -> int:
        return sum(max((carried[name] for name in each.types if name in carried), default=1) for each in parameters)

    for file in files:
        made = [
            FunctionFacts(c.name, c.line, c.fields, frozenset(), False, False)
            for c in file.classes
            if c.is_data and c.acts
        ]
        named = [(f"{c.name}.{method.name}", method) for c in file.classes for method in c.methods]
        for name, function in [*named, *((each.name, each) for each in (*file.functions, *made))]:
            if size(function.parameters) > MOST_PARAMETERS:
                yield f"{file.path}:{function.line}: {name} takes {size(function.parameters)}"


def _large_folders(tree: Tree) -> Iterator[str]:
    files = Counter(file.path.rpartition("/")[0] for file in tree.product)
    return (f"{folder}: {number}" for folder, number in files.items() if number > MOST_FILES)


def _large_classes(tree: Tree) -> Iterator[str]:
    for file in tree.product:
        for each in file.classes:
            public = {method.name for method in each.methods if not method.name.startswith("_")}
            if len(public) > MOST_METHODS:
                yield f"{file.path}:{each.line}: {each.name} has {len(public)}"


def _imports_of_extras(tree: Tree) -> Iterator[str]:
    for file in tree.core:
        lines = {line for name, line in file.imports if f"{name}.".startswith(f"{EXTRAS_MODULE}.")}
        yield from (f"{file.path}:{line}" for line in sorted(lines))


def _strategy_fields(tree: Tree) -> Iterator[str]:
    for file in tree.core:
        for each in file.classes:
            if each.name == "Strategy":
                yield from (f"{file.path}: {field.name}" for field in each.fields)


def _messages(tree: Tree) -> Iterator[str]:
    for file in tree.product:
        yield from (f"{file.path}:{each.line}: {each.name}" for each in file.classes if "Message" in each.bases)


def _long_sentences(files: Iterable[FileFacts]) -> Iterator[str]:
    for file in files:
        for each in file.sentences:
            if word_count(each.text) > MOST_WORDS:
                yield f"{file.path}:{each.line}: {each.text}"


def _riddles(files: Iterable[FileFacts]) -> Iterator[str]:
    for file in files:
        for each in file.sentences:
            if each.in_docstring and is_riddle(each.text):
                yield f"{file.path}:{each.line}: {each.text}"


def _document_sentences(root: Path) -> Iterator[tuple[str, str]]:
    for folder in DOCUMENT_FOLDERS:
        for path in sorted((root / folder).glob("*.md") if folder == "." else (root / folder).rglob("*.md")):
            for line, paragraph in document_paragraphs(path.read_text("utf-8")):
                yield from ((f"{path.relative_to(root).as_posix()}:{line}", each) for each in sentences(paragraph))


def _placed(places: Iterable[str]) -> Count:
    found = tuple(places)
    return Count(len(found), found)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="counts what must not grow")
    parser.add_argument("--lower", action="store_true", help="lower the ceilings that are above their counts")
    parser.add_argument("--places", metavar="COUNT", help="list the places that a count comes from")
    parser.add_argument("--tree", type=Path, default=ROOT, metavar="DIR", help="the checkout that is counted")
    chosen = parser.parse_args()
    found, limits = counts(read_tree(chosen.tree)), ceilings()
    if chosen.places:
        print("\n".join(found[chosen.places].places))
        return 0
    if chosen.lower:
        text = CEILINGS.read_text("utf-8")
        CEILINGS.write_text(lowered(text, {name: each.number for name, each in found.items()}), "utf-8")
    print(f"{'count':<30}{'today':>8}{'ceiling':>9}")
    for name, each in found.items():
        print(f"{name:<30}{each.number:>8,}{limits.get(name, 0):>9,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
