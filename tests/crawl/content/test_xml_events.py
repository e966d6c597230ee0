"""XML of strangers: bounded in depth and entities, read up to where it breaks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl.content.xml_events import MAX_DEPTH, Enough, read_xml


class Told:
    """Remembers the events; ends after so many elements."""

    def __init__(self, most: int = 1 << 30) -> None:
        self.events: list[str] = []
        self._most = most

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.events.append(f"<{tag} {' '.join(f'{k}={v}' for k, v in attributes.items())}".rstrip())
        if len(self.events) > self._most:
            raise Enough

    def end(self, tag: str, text: str) -> None:
        self.events.append(f"{text}/{tag}")


def told(body: bytes, most: int = 1 << 30) -> list[str]:
    return read_xml(body, lambda: Told(most)).events


def test_names_come_without_namespaces_and_text_with_its_element() -> None:
    body = b'<a xmlns="u:x" xmlns:d="u:d"><d:b k="v">one&amp;<![CDATA[<two>]]></d:b>tail</a>'
    assert told(body) == ["<a", "<b k=v", "one&<two>/b", "tail/a"]


@pytest.mark.parametrize(
    "body",
    [
        b'<!DOCTYPE a [<!ENTITY b "x">]><a>&b;</a>',
        b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        b'<!DOCTYPE a SYSTEM "http://a.test/x.dtd"><a>x</a>',
    ],
)
def test_a_document_type_ends_it(body: bytes) -> None:
    assert told(body) == []


def test_depth_and_number_are_bounded_and_what_is_broken_and_no_list_says_nothing() -> None:
    assert told(b"<a>" * 1_000_000) == [], "nothing that has an end"
    assert len(told(b"<a>" * MAX_DEPTH + b"</a>" * MAX_DEPTH)) == 2 * MAX_DEPTH
    assert len(told(b"<a>" + b"<b/>" * 1_000_000, most=10)) <= 12
    assert told(b"<a>x<b>y</b></c>") == []


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200) | st.text("<a>/&;#x0![CDAT]?", max_size=60).map(str.encode))
def test_nothing_breaks_it(body: bytes) -> None:
    told(body)
