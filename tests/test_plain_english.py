"""Help texts and documents have short sentences and plain words."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from node.cli.arguments import build_parser
from node.cli.manual_page import arguments_of, parsers_below
from tests.prose_counts import document_paragraphs, sentences, word_count

ROOT = Path(__file__).parents[1]
MOST_WORDS = 25
DOCUMENTS = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")} - {ROOT / "PROTOCOL.md"})
ODD = re.compile(  # CONTRIBUTING.md says why
    r"\bin the mean\b|\bby the model\b|\bjust now\b|(?<!there )\b(is|are) no (?!longer\b)|\bhand(s|ed)? in\b"
    r"|\bwho asks\b|\b(who|what)ever\b|\btakes? away\b|\bas where\b|\bby order\b|\bstands? in\b|\bshall\b"
    r"|\bbegins? so\b|\balike\b",
    re.I,
)


def faults_of(paragraphs: Iterator[str]) -> list[str]:
    """Sentences that are too long or have a construction that a stranger has to read twice."""
    found = [sentence for paragraph in paragraphs for sentence in sentences(paragraph)]
    assert found
    return [
        sentence
        for sentence in found
        if word_count(sentence) > MOST_WORDS or ODD.search(re.sub("`[^`]*`", "", sentence))
    ]


def help_texts(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Each text that --help of a verb prints."""
    yield from (parser.description or "").splitlines()
    yield from (argument.help or "" for argument in arguments_of(parser))


def test_help_is_short_and_plain() -> None:
    top = build_parser()
    texts = {parser.prog: faults_of(help_texts(parser)) for parser in (top, *parsers_below(top))}
    assert len(texts) > 50
    assert {verb: faults for verb, faults in texts.items() if faults} == {}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_documents_are_short_and_plain(document: Path) -> None:
    assert faults_of(text for _, text in document_paragraphs(document.read_text())) == []


@pytest.mark.parametrize(
    "text",
    ["Live copies, in the mean.", "That is no address.", "Hand in what shall be crawled.", "word " * 26],
)
def test_a_riddle_is_found(text: str) -> None:
    assert faults_of(iter([text]))
