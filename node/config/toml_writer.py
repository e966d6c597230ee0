"""Writes the commented config.toml of a new node: every key, its default and its reason, from the classes themselves.

The reasons are the comments beside the fields in the source, so a file and the code cannot say two things.
"""

import ast
import inspect
import io
import json
import re
import textwrap
import tokenize
from collections.abc import Iterator, Mapping
from typing import Any

from node.config.toml_reader import defaults_of

_HEAD = """\
# Settings of a dse-node. A key that is commented out has the default shown; remove the "# " to change it.
# An unknown key or a wrong type stops the node at once with the line to mend (exit code 78).
"""


def write_config(tree: type[Any], settings: Mapping[str, Any]) -> str:
    """Return the text of a config.toml: `settings` (path → value, such as node.web_port) set, all else as a comment."""
    lines = [_HEAD]
    for name, branch in defaults_of(tree).items():
        lines.append(f"[{name}]  # {_first_line(type(branch))}")
        lines += _keys(type(branch), name, settings)
        lines.append("")
    return "\n".join(lines)


def set_key(text: str, path: str, value: object) -> str:
    """Return the text of a config.toml with one key set (such as node.web_port), and all other lines as they were. The
    key's own line is replaced, or the comment that shows its default. A value of several lines is not seen as one:
    whoever calls reads the text again and compares."""
    table, _, leaf = path.partition(".")
    lines = text.splitlines()
    line = f"{leaf} = {toml_value(value)}"
    begin = next((n for n, each in enumerate(lines) if re.match(rf"\s*\[\s*{table}\s*\]", each)), None)
    if begin is None:
        return "\n".join([*lines, "", f"[{table}]", line, ""])
    end = next((n for n in range(begin + 1, len(lines)) if re.match(r"\s*\[", lines[n])), len(lines))
    for form in (rf"\s*{leaf}\s*=", rf"\s*#\s*{leaf}\s*="):
        for n in range(begin + 1, end):
            if re.match(form, lines[n]):
                why = re.search(r"  # .*", lines[n])
                lines[n] = line + (why[0] if why else "")
                return "\n".join([*lines, ""])
    return "\n".join([*lines[: begin + 1], line, *lines[begin + 1 :], ""])


def explain_keys(tree: type[Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (path, default as TOML, reason) of every key."""
    for name, branch in defaults_of(tree).items():
        reasons = _reasons(type(branch))
        for leaf, default in defaults_of(type(branch)).items():
            yield f"{name}.{leaf}", toml_value(default), reasons.get(leaf, "")


def toml_value(value: object) -> str:
    """Write a value as TOML; None, which TOML lacks, becomes an empty string."""
    if value is None:
        return '""'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple | set | frozenset):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    return json.dumps(str(value), ensure_ascii=False)


def _keys(branch_type: type[Any], branch: str, settings: Mapping[str, Any]) -> Iterator[str]:
    reasons = _reasons(branch_type)
    for leaf, default in defaults_of(branch_type).items():
        path = f"{branch}.{leaf}"
        why = f"  # {reasons[leaf]}" if reasons.get(leaf) else ""
        if path in settings:
            yield f"{leaf} = {toml_value(settings[path])}{why}"
        else:
            yield f"# {leaf} = {toml_value(default)}{why}"


def _first_line(branch_type: type[Any]) -> str:
    return (inspect.getdoc(branch_type) or "").partition("\n")[0]


def _reasons(branch_type: type[Any]) -> dict[str, str]:
    """Map each field to the comment beside it, or the lines above it; empty where the source is not at hand."""
    try:
        source = textwrap.dedent(inspect.getsource(branch_type))
    except OSError:
        return {}
    comments = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    reasons: dict[str, str] = {}
    last = 0
    for field in ast.walk(ast.parse(source)):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            first, end = field.lineno, field.end_lineno or field.lineno
            beside = [comments[line] for line in range(first, end + 1) if line in comments]
            above = [comments[line] for line in range(last + 1, first) if line in comments]
            reasons[field.target.id] = " ".join(beside or above)
            last = end
    return reasons
