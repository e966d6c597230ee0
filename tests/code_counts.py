"""Reads of each Python file what the ratchet counts: lines, classes, functions with their parameters, sentences."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.prose_counts import comment_paragraphs, docstring_paragraphs, sentences

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_STARTS = re.compile(r"\.create_task\(|\bstart\((?:\w+, )?f?\"")
VALUES = (
    "NamedTuple",
    "Struct",
    "msgspec.Struct",
)  # bases of classes that are made of their fields, as dataclasses are


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, or a field that a constructor takes. `types`: all names in its annotation."""

    name: str
    types: frozenset[str]


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """A function or a method, at a line of its file. `returned`: all names in the annotation of its result."""

    name: str
    line: int
    parameters: tuple[Parameter, ...]
    returned: frozenset[str]
    is_async: bool
    is_property: bool


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """A class, at a line of its file. `is_data`: its constructor is made from its fields. `fields`: those that the
    constructor takes."""

    name: str
    line: int
    bases: tuple[str, ...]
    is_data: bool
    fields: tuple[Parameter, ...]
    methods: tuple[FunctionFacts, ...]

    @property
    def acts(self) -> bool:
        """Whether it is more than a value: it has a method that waits for something."""
        return any(method.is_async for method in self.methods)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a docstring or of a comment, with the line of its paragraph."""

    line: int
    text: str
    in_docstring: bool


@dataclass(frozen=True, slots=True)
class FileFacts:
    """All that is counted of a file.

    - `code_lines`: without docstrings, comments and blank lines.
    - `imports`: modules with the lines that name them.
    - `functions`: those outside of classes, and those inside of functions.
    - `node_tasks`: the lines of NodeCore.run that start a task by its name.
    - `task_starts`: all lines that start a task.
    """

    path: str
    lines: int
    code_lines: int
    imports: tuple[tuple[str, int], ...]
    classes: tuple[ClassFacts, ...]
    functions: tuple[FunctionFacts, ...]
    sentences: tuple[Sentence, ...]
    node_tasks: tuple[int, ...]
    task_starts: tuple[int, ...]


def read_file(path: Path, name: str) -> FileFacts:
    """Read a file; `name` is its path in the checkout. Syntax trees are not kept: all of them fill the memory."""
    text = path.read_text("utf-8")
    nodes = list(_statements(ast.parse(text)))
    docstrings = [node.body[0] for node in nodes if _has_docstring(node)]  # type: ignore[attr-defined]
    methods = {id(each) for node in nodes if isinstance(node, ast.ClassDef) for each in node.body}
    return FileFacts(
        path=name,
        lines=text.count("\n"),
        code_lines=_code_lines(text, docstrings),
        imports=tuple(_imports(nodes)),
        classes=tuple(_class_facts(node) for node in nodes if isinstance(node, ast.ClassDef)),
        functions=tuple(_function_facts(n) for n in nodes if isinstance(n, FUNCTIONS) and id(n) not in methods),
        sentences=tuple(_sentences(text, nodes)),
        node_tasks=tuple(_node_tasks(nodes)),
        task_starts=tuple(n for n, line in enumerate(text.splitlines(), 1) if _STARTS.search(line)),
    )


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all statements inside it, however deep; an expression holds none."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr | ast.arguments):
            yield from _statements(child)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _has_docstring(node: ast.AST) -> bool:
    return isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) and bool(node.body) and _is_text(node.body[0])


def _code_lines(text: str, docstrings: Iterable[ast.stmt]) -> int:
    inside = {line for each in docstrings for line in range(each.lineno, (each.end_lineno or each.lineno) + 1)}
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return sum(bool(line) and line[0] != "#" and number not in inside for number, line in lines)


def _imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def _function_facts(node: ast.FunctionDef | ast.AsyncFunctionDef) -> FunctionFacts:
    given = node.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    decorators = {ast.unparse(each) for each in node.decorator_list}
    return FunctionFacts(
        node.name,
        node.lineno,
        tuple(Parameter(p.arg, _names(p.annotation)) for p in parameters if p.arg not in ("self", "cls")),
        _names(node.returns),
        isinstance(node, ast.AsyncFunctionDef),
        any(name in ("property", "cached_property") or name.endswith(".setter") for name in decorators),
    )


def _class_facts(node: ast.ClassDef) -> ClassFacts:
    decorators = [ast.unparse(each) for each in node.decorator_list]
    bases = tuple(ast.unparse(base) for base in node.bases)
    is_data = any(re.match(r"(dataclasses\.)?dataclass\b", name) for name in decorators)
    fields = [each for each in node.body if isinstance(each, ast.AnnAssign) and _is_taken(each)]
    return ClassFacts(
        node.name,
        node.lineno,
        bases,
        is_data or any(base in VALUES for base in bases),
        tuple(Parameter(ast.unparse(each.target), _names(each.annotation)) for each in fields),
        tuple(_function_facts(each) for each in node.body if isinstance(each, FUNCTIONS)),
    )


def _is_taken(field: ast.AnnAssign) -> bool:
    """Tell whether a constructor takes a field."""
    default = ast.unparse(field.value) if field.value is not None else ""
    return "ClassVar" not in _names(field.annotation) and not re.match(r"field\(.*\binit=False", default, re.S)


def _names(annotation: ast.AST | None) -> frozenset[str]:
    if annotation is None:
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(re.findall(r"\w+", node.value))
    return frozenset(found)


def _sentences(text: str, nodes: Sequence[ast.AST]) -> Iterator[Sentence]:
    for node in nodes:
        if _is_text(node):
            for line, paragraph in docstring_paragraphs(node.value.value, node.lineno):  # type: ignore[attr-defined]
                yield from (Sentence(line, each, True) for each in sentences(paragraph))
    for line, paragraph in comment_paragraphs(text):
        yield from (Sentence(line, each, False) for each in sentences(paragraph))


def _node_tasks(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """Yield the lines of the method that runs a node on which a call names a task: by its first argument or `name`."""
    cores = (each for node in nodes if isinstance(node, ast.ClassDef) and node.name == "NodeCore" for each in node.body)
    for method in cores:
        if isinstance(method, FUNCTIONS) and method.name == "run":
            calls = (node.value for node in ast.walk(method) if isinstance(node, ast.Expr))
            yield from (call.lineno for call in calls if isinstance(call, ast.Call) and _names_task(call))


def _names_task(call: ast.Call) -> bool:
    first = call.args[0] if call.args else None
    is_text = isinstance(first, ast.Constant) and isinstance(first.value, str)
    return is_text or any(word.arg == "name" for word in call.keywords)
