"""A zip file of XML parts, opened within bounds.

Pure: bytes in, events out. Sources: ECMA-376 part 2 (Open Packaging Conventions), OpenDocument 1.3 part 2, EPUB 3.3.
Sizes, ratio and places of entries are checked before anything is unpacked. zipfile unpacks no more than an entry's
declared size. XML is read as events, so no tree is built. No entity is expanded, nothing is loaded by a reference, and
lxml's own limits hold (10 MB a text, a depth of 256).
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from functools import lru_cache
from io import BytesIO
from typing import NamedTuple
from urllib.parse import unquote
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo
from zlib import error as DeflateError

from lxml import etree

from crawl.office.reading import NotRead

MAX_UNPACKED_BYTES = 67_108_864
MAX_ENTRIES = 2_000
MAX_RATIO = 100  # of all entries together; a workbook of one number again and again has 15
SMALL_BYTES = 1_048_576  # unpacked: so much is no bomb, whatever the ratio
MAX_EVENTS = 600_000  # elements of all parts, 3 us each; a text of 60,000 words has ten a word where each is a run
_SILENT_BYTES = 1_048_576  # of one tag or comment: a tag of 10 MB would take 300 MB
_BROKEN = (BadZipFile, DeflateError, EOFError, OSError, RuntimeError, ValueError, OverflowError)  # what zipfile raises
_CHUNK_BYTES = 32_768
_HEADER_BYTES = 30  # of an entry, besides its name
_NAMES = 256  # that are remembered; a part has some 50, again and again
_ENCRYPTED = 1  # general purpose bit 0


class Start(NamedTuple):
    """An element begins; names are without namespaces."""

    name: str
    attributes: Mapping[str, str]


class End(NamedTuple):
    """An element ends."""

    name: str


_NOTHING: Mapping[str, str] = {}
Event = Start | End | str  # the last is text


class Relation(NamedTuple):
    """A relation of a part: the last word of its type, and its target: a part's name, or an address outside."""

    kind: str
    target: str
    is_external: bool


class Package:
    """The parts of a document. Names of parts are compared without case, as Open Packaging Conventions ask."""

    def __init__(self, body: bytes) -> None:
        """Check a zip file; raises NotRead."""
        try:
            self._zip = ZipFile(BytesIO(body))
        except _BROKEN as error:
            raise NotRead("it is cut off or broken") from error
        infos = self._zip.infolist()
        if flaw := _flaw(infos, len(body)):
            raise NotRead(flaw)
        self._infos = {info.filename.replace("\\", "/").lstrip("/").lower(): info for info in infos}
        self._events_left = MAX_EVENTS

    @property
    def names(self) -> list[str]:
        """The names of all parts, in lower case."""
        return list(self._infos)

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._infos

    def read(self, name: str, max_bytes: int) -> bytes:
        """Return the first bytes of a part, b"" where there is none."""
        info = self._infos.get(name.lower())
        if info is None:
            return b""
        try:
            with self._zip.open(info) as part:
                return part.read(max_bytes)
        except _BROKEN as error:
            raise NotRead(f"its part {name} is broken") from error

    def events(self, name: str, most: int = MAX_EVENTS) -> Iterator[Event]:
        """Yield what a part holds, nothing where there is none; it ends early after `most` elements."""
        info = self._infos.get(name.lower())
        if info is None:
            return
        target = _Events()
        parser = etree.XMLParser(
            target=target,  # type: ignore[arg-type]  # bytes in Python 2 alone
            resolve_entities=False,
            load_dtd=False,
            no_network=True,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        most, silent = min(most, self._events_left), 0
        try:
            with self._zip.open(info) as part:
                while most > 0 and silent < _SILENT_BYTES and (chunk := part.read(_CHUNK_BYTES)):
                    parser.feed(chunk)
                    most -= target.count
                    self._events_left -= target.count
                    found = target.take()
                    silent = 0 if found else silent + len(chunk)
                    yield from found
            if silent >= _SILENT_BYTES:
                raise NotRead(f"its part {name[:80]} has a tag without end")
            if most > 0:
                parser.close()
        except (etree.XMLSyntaxError, *_BROKEN) as error:
            raise NotRead(f"its part {name[:80]} is broken") from error

    def relations(self, name: str) -> dict[str, Relation]:
        """Return the relations of a part by id; those of the package for ""."""
        folder, file = posixpath.split(name)
        found = {}
        for event in self.events(posixpath.join(folder, "_rels", f"{file}.rels")):
            if isinstance(event, Start) and event.name == "Relationship":
                said = event.attributes
                is_external = said.get("TargetMode", "").lower() == "external"
                target = said.get("Target", "")
                kind = said.get("Type", "").rpartition("/")[2]
                found[said.get("Id", "")] = Relation(
                    kind, target if is_external else part_name(name, target), is_external
                )
        return found

    def values(self, name: str) -> Iterator[tuple[str, str, Mapping[str, str]]]:
        """Yield the elements of a small part that hold text alone: name, text, attributes."""
        begun, text = Start("", {}), ""
        for event in self.events(name):
            if isinstance(event, str):
                text += event
            elif isinstance(event, Start):
                begun, text = event, ""
            elif event.name == begun.name:
                yield event.name, text, begun.attributes
                begun = Start("", {})


def part_name(base: str, reference: str) -> str:
    """Return the name of a part that another one refers to."""
    path = unquote(reference.partition("#")[0], errors="replace").replace("\\", "/")
    joined = path if path.startswith("/") else posixpath.join(posixpath.dirname(base), path)
    return posixpath.normpath(f"/{joined}").lstrip("/")


class _Events:
    """Takes what lxml's parser finds, until it is asked for."""

    def __init__(self) -> None:
        self._found: list[Event] = []
        self.count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        said = {_attribute(name): value for name, value in attributes.items()} if attributes else _NOTHING
        self._found.append(Start(_local(tag), said))
        self.count += 1

    def end(self, tag: str) -> None:
        self._found.append(End(_local(tag)))

    def data(self, text: str) -> None:
        self._found.append(text)

    def close(self) -> None:
        """Do nothing: there is no tree."""

    def take(self) -> list[Event]:
        found, self._found, self.count = self._found, [], 0
        return found


@lru_cache(_NAMES)
def _local(name: str) -> str:
    return name[name.rfind("}") + 1 :]


@lru_cache(_NAMES)
def _attribute(name: str) -> str:
    """Return the local name of an attribute; "r:id" for an id with a namespace, which refers to a relation."""
    local = _local(name)
    return "r:id" if local == "id" and local != name else local


def _flaw(infos: list[ZipInfo], size: int) -> str:
    """Explain why a zip file is not unpacked, "" where it is."""
    unpacked = sum(info.file_size for info in infos)
    if len(infos) > MAX_ENTRIES:
        return f"it has more than {MAX_ENTRIES:,} parts"
    if unpacked > MAX_UNPACKED_BYTES:
        return f"it unpacks to more than {MAX_UNPACKED_BYTES // 1_048_576} MB"
    if unpacked > max(SMALL_BYTES, MAX_RATIO * size):
        return f"it unpacks to more than {MAX_RATIO} times its size"
    if any(info.flag_bits & _ENCRYPTED for info in infos):
        return "it needs a password"
    if any(info.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for info in infos):
        return "it is packed by a method that no office program uses"
    end = 0
    for at, length in sorted((info.header_offset, _HEADER_BYTES + info.compress_size) for info in infos):
        if at < end:
            return "its parts overlap"
        end = at + length
    return "its parts overlap" if end > size else ""
