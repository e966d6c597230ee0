"""The documents in docs/zh say what their English originals say: the same headings, commands, settings and links."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHINESE = [ROOT / "docs" / "zh" / f"{name}.md" for name in ("README", "campus", "reader", "site-owner", "volunteer")]


def _english(path: Path) -> Path:
    return ROOT / "README.md" if path.name == "README.md" else ROOT / "docs" / path.name


def _parts(path: Path) -> dict[str, list[str]]:
    """Return all of a document that has no language; comments in blocks of code are translated."""
    text = path.read_text()
    return {
        "headings": re.findall(r"^#+(?= )", text, re.M),
        "code": [re.sub(r" +# .*", "", line) for line in re.findall(r"^(?: {4}| {7})(?=\S)(.+)$", text, re.M)],
        "rows": re.findall(r"^\|(?=.+\|$)", text, re.M),
        "names": sorted({" ".join(span.split()) for span in re.findall("`([^`]+)`", text)}),
    }


@pytest.mark.parametrize("path", CHINESE, ids=lambda path: path.name)
def test_a_translation_has_the_headings_and_commands_of_its_original(path: Path) -> None:
    chinese, english = _parts(path), _parts(_english(path))
    assert len(english["headings"]) >= 4 and len(english["names"]) > 10
    assert chinese == english


@pytest.mark.parametrize("path", CHINESE, ids=lambda path: path.name)
def test_both_languages_link_to_each_other(path: Path) -> None:
    links = {
        language: re.findall(rf"^\[{language}\]\((.+)\)$", text, re.M)[0]
        for language, text in {"English": path.read_text(), "中文": _english(path).read_text()}.items()
    }
    assert (path.parent / links["English"]).resolve() == _english(path)
    assert _english(path).parent / links["中文"] == path


def test_each_chinese_document_is_compared() -> None:
    assert sorted((ROOT / "docs" / "zh").iterdir()) == CHINESE
