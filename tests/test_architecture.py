"""The house rules that a reader relies on: imports go one way, pure modules stay pure, documents name real files."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from node import extras
from tests.walks import walks_of

ROOT = Path(__file__).parents[1]
PACKAGES = ("node", "dht", "crawl", "store", "index", "bootstrap")
MAY_IMPORT = {
    "dht": set(),
    "crawl": {"dht"},
    "store": {"dht"},
    "index": {"dht"},
    "bootstrap": {"dht"},
    "node": {"dht", "crawl", "store", "index", "bootstrap"},
}
ROOMS = {  # of each package, in an order in which a folder imports only folders named before it
    "dht": (
        "dht",
        "dht/audit",
        "dht/language",
        "dht/identity",
        "dht/wire",
        "dht/admission",
        "dht/membership",
        "dht/routing",
        "dht/strategy",
        "dht/transport",
        "dht/ownership",
        "dht/protocol",
        "dht/leases",
        "dht/reachability",
        "dht/overlay",
    ),
    "crawl": (
        "crawl",
        "crawl/fetch",
        "crawl/schedule",
        "crawl/content",
        "crawl/office",
        "crawl/lists",
        "crawl/politeness",
        "crawl/frontier",
        "crawl/parsing",
        "crawl/pipeline",
    ),
    "store": (
        "store",
        "store/record",
        "store/segments",
        "store/catalog",
        "store/writing",
        "store/repair",
        "store/reading",
        "store/replication",
    ),
    "index": (
        "index",
        "index/text",
        "index/query",
        "index/engine",
        "index/shard",
        "index/results",
        "index/asking",
    ),
    "node": (
        "node",
        "node/extras",
        "node/crawling",
        "node/captures",
        "node/views",
        "node/api",
        "node/delegation",
        "node/audit",
        "node/joining",
        "node/config",
        "node/backup",
        "node/jobs",
        "node/sites",
        "node/strategy",
        "node/app",
        "node/owner",
        "node/service",
        "node/web/requests",
        "node/web/rendering",
        "node/web/search",
        "node/web/owner",
        "node/web/stored",
        "node/web",
        "node/cli",
        "node/process",
        "node/cli/commands",
    ),
    "bootstrap": ("bootstrap",),
}
EXTRAS = tuple(
    sorted(f"node/extras/{path.name}" for path in (ROOT / "node/extras").iterdir() if (path / "__init__.py").exists())
)
LAUNCHERS = {"__init__.py", "__main__.py"}  # they show or start what lies in the rooms, and may import any
IMPURE = {"asyncio", "time", "random", "socket", "os", "sqlite3", "aiohttp"}
FOLDERS = "|".join((*PACKAGES, "tests", "benchmarks", "docs", "examples", "contrib", "clients", "packaging"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(p for folder in FOLDERS.split("|") for p in (ROOT / folder).rglob("*.md"))])
SOURCES = sorted(p for package in PACKAGES for p in (ROOT / package).rglob("*.py"))


def _in_repository(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Source:
    """The facts that the rules need of a file. The tree of its syntax is not kept, since those of all files fill the
    memory."""

    text: str
    docstring: str
    imports: dict[str, int]  # the modules that it imports, each with its line
    froms: tuple[tuple[str, tuple[str, ...]], ...]  # modules, with the names that it takes of each
    classes: tuple[str, ...]
    defined: tuple[tuple[int, str, str], ...]  # line, name and docstring of itself, its classes and its functions


@cache  # each file is parsed once, though many rules look at it
def source(path: Path) -> Source:
    text = path.read_text()
    module = ast.parse(text)
    imports, froms, defined = dict[str, int](), list[tuple[str, tuple[str, ...]]](), list[tuple[int, str, str]]()
    classes = list[str]()
    for node in statements(module):
        if isinstance(node, ast.Import):
            imports |= {alias.name: node.lineno for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports[node.module] = node.lineno
            froms.append((node.module, tuple(alias.name for alias in node.names)))
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = getattr(node, "name", "")
            defined.append((getattr(node, "lineno", 1), name, ast.get_docstring(node) or ""))
            classes += [name] * isinstance(node, ast.ClassDef)
    return Source(text, ast.get_docstring(module) or "", imports, tuple(froms), tuple(classes), tuple(defined))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all statements inside it, however deep; an expression holds none."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield from statements(child)


def test_imports_go_one_way() -> None:
    wrong = []
    for path in SOURCES:
        package = path.relative_to(ROOT).parts[0]
        for module, line in source(path).imports.items():
            top = module.split(".")[0]
            if top in PACKAGES and top != package and top not in MAY_IMPORT[package]:
                wrong.append(f"{path}:{line}: {package} must not import {module}")
    assert wrong == []


def test_rooms_import_only_rooms_before_them() -> None:
    wrong = []
    for path in SOURCES:
        room = path.parent.relative_to(ROOT).as_posix()
        package = path.relative_to(ROOT).parts[0]
        if room in EXTRAS:
            continue
        order = ROOMS[package]
        assert room in order, f"{room} has no place in the order of {package}'s rooms"
        for module, line in source(path).imports.items() if path.name not in LAUNCHERS else ():
            if module.split(".")[0] == package:
                inner = ROOT / module.replace(".", "/")
                other = (inner if inner.is_dir() else inner.parent).relative_to(ROOT).as_posix()
                if order.index(other) > order.index(room):
                    wrong.append(f"{path}:{line}: {room} must not import {module}")
    assert wrong == []


def test_nothing_imports_an_extra_but_its_own_files() -> None:
    """The core finds extras by the names in node/extras/__init__.py; an extra may import any room of the core."""
    wrong = []
    for path in SOURCES:
        room = path.parent.relative_to(ROOT).as_posix()
        for module, line in source(path).imports.items():
            extra = "/".join(module.split(".")[:3])
            if extra in EXTRAS and extra != room:
                wrong.append(f"{path}:{line}: {room} must not import {module}")
    assert wrong == []


def test_the_table_of_extras_names_what_is_there() -> None:
    for path in (ROOT / "node/extras").rglob("*.py"):
        assert path.parent.parent in (ROOT / "node", ROOT / "node/extras"), f"{path}: an extra is one folder"
    for name in (
        extras.QUERY_TRACER,
        extras.TRACE_EXPORT,
        extras.WEB_REPORT,
        *extras.RESULT_FORMS.values(),
        *extras.SEED_READERS.values(),
    ):
        assert callable(extras.added(name))
    for name in extras.ROUTE_MODULES:
        assert {each.name for each in import_module(name).ROUTES}
    for name in extras.VERB_MODULES:
        assert callable(import_module(name).add_verbs)


def test_tests_mirror_the_rooms() -> None:
    rooms = {*EXTRAS, *(room for order in ROOMS.values() for room in order)}
    # of whole nodes, of failing machines, of strangers who mean harm, and of what is installed
    beside = {"sim", "e2e", "lab", "faults", "data", "benchmarks", "attacks", "dht/attacks", "crawl/web", "packaging"}
    for path in (ROOT / "tests").rglob("test_*.py"):
        room = path.parent.relative_to(ROOT / "tests").as_posix()
        assert room in rooms | beside | {"."}, f"{path} lies in no room of the house"


def test_packages_use_each_other_through_their_front_door() -> None:
    for path in SOURCES:
        package = path.relative_to(ROOT).parts[0]
        for module, line in source(path).imports.items():
            top, _, inner = module.partition(".")
            if (
                top in PACKAGES and top != package and package != "bootstrap"
            ):  # the outer half of dht/strategy/network.py
                assert not inner, f"{path}:{line}: import from {top}, not {module}"


@pytest.mark.parametrize("package", [package for package in PACKAGES if package != "node"])
def test_a_front_door_shows_only_what_other_packages_use(package: str) -> None:
    used: set[str] = set()
    for path in SOURCES:
        if path.relative_to(ROOT).parts[0] != package:
            used |= {name for module, names in source(path).froms if module == package for name in names}
    door = ast.parse((ROOT / package / "__init__.py").read_text())
    values = [node.value for node in door.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.List)]
    shown = {name for value in values for name in ast.literal_eval(value)}
    assert shown == used, "tests and benchmarks import from the module that defines a name"


@pytest.mark.parametrize("package", [package for package in PACKAGES if package != "node"])
def test_a_front_door_opens_what_type_checkers_see_of_it(package: str) -> None:
    """Write a package's table anew from its imports under TYPE_CHECKING where this fails."""
    door = ast.parse((ROOT / package / "__init__.py").read_text())
    guard = next(node for node in door.body if isinstance(node, ast.If))
    seen = {
        (each.module, alias.name) for each in guard.body if isinstance(each, ast.ImportFrom) for alias in each.names
    }
    calls = [node for part in guard.orelse for node in ast.walk(part) if isinstance(node, ast.Call)]
    table: dict[str, str] = ast.literal_eval(calls[0].args[1])
    assert {(module, name) for module, names in table.items() for name in names.split()} == seen


def test_pure_modules_are_pure() -> None:
    wrong = []
    for path in SOURCES:
        file = source(path)
        if not file.docstring:
            wrong.append(f"{path} has no docstring")
        if re.search(r"^Pure\b", file.docstring, re.M):
            only_type = "from random import Random\n" in file.text
            impure = {m.split(".")[0] for m in file.imports} & (IMPURE - ({"random"} if only_type else set()))
            wrong += [f"{path} says Pure and imports {sorted(impure)}"] * bool(impure)
    assert wrong == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=_in_repository)
def test_documents_name_files_that_exist(path: Path) -> None:
    text = path.read_text()
    named = {ROOT / name for name in re.findall(rf"`((?:{FOLDERS})/[\w./-]*)`", text)}
    linked = {path.parent / name for name in re.findall(r"\]\(([\w./-]+\.(?:md|png))\)", text)}
    missing = sorted(_in_repository(file) for file in named | linked if not file.exists())
    assert not missing, f"{path} names what is not there: {missing}"


def test_sources_name_files_that_exist() -> None:
    files = [*ROOT.glob("*.py"), *(p for folder in FOLDERS.split("|") for p in (ROOT / folder).rglob("*.py"))]
    there = {_in_repository(file) for file in files}
    ends = {"/".join(path.split("/")[-n:]) for path in there for n in range(1, 8)}
    for file in files:
        text = file.read_text()
        assert not re.search("^[<>]{7} ", text, re.M), f"{file} has the marks of a conflict"
        named = set(re.findall(r"(?<![\w.*/{}])((?:\w+/)*\w+\.py)\b", text)) if ".py" in text else set()
        assert not named - ends, f"{file} names {sorted(named - ends)}, which is not there"


def test_the_architecture_names_every_room() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rooms = [*EXTRAS, *(room for order in ROOMS.values() for room in order if room != "node/cli/commands")]
    assert not [room for room in rooms if f"`{room}/`" not in text]


def test_each_step_of_the_three_walks_is_a_definition_in_its_file() -> None:
    steps = walks_of((ROOT / "CONTRIBUTING.md").read_text())
    assert [len(walk) for walk in steps] == [18, 13, 11]
    for file, definition in (step for walk in steps for step in walk):
        found = re.search(rf"^ *(?:async )?{definition}\b", (ROOT / file).read_text(), re.M)
        assert found, f"CONTRIBUTING.md looks for {definition!r} in {file}"


def test_the_walks_end_at_the_deciding_definition() -> None:
    walks = re.findall(r"^\| .+\? \| (.+) \| `(.+)` \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.M)
    assert len(walks) == 10
    for walk, definition in walks:
        *folders, file = re.findall("`(.+?)`", walk)
        assert all(file.startswith(folder) for folder in folders) and file.count("/") == len(folders)
        found = re.search(rf"^ *(?:async )?{definition}\b", (ROOT / file).read_text(), re.M)
        assert found, f"CONTRIBUTING.md looks for {definition!r} in {file}"


def test_nobody_starts_orphan_tasks() -> None:
    for path in SOURCES:
        found = re.findall(r"\b(?:asyncio\.)?(?:create_task|ensure_future|gather)\(", source(path).text)
        orphans = [f for f in found if f.startswith("asyncio.") or "ensure" in f]
        assert not orphans, f"{path} starts {orphans}: a TaskGroup owns every task"


def test_a_class_name_has_one_meaning() -> None:
    """A class private to its module (`_Name`) counts by the word alone, as a reader meets it."""
    places: dict[str, list[str]] = {}
    for path in SOURCES:
        for name in source(path).classes:
            places.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_sentences_stand_alone_and_verbs_say_what_they_do() -> None:
    for path in SOURCES:
        for line, name, docstring in source(path).defined:
            leaning = docstring.startswith(("The same", "Of ", "As ", "See "))
            assert not leaning, f"{path}:{line}: a docstring leans on its neighbour's"
            assert name not in ("look", "_look"), f"{path}:{line}: refresh, explain, inspect, score?"
