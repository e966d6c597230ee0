"""Reads and writes the files of strategies: drafts, signed documents, and what `strategy show --json` printed."""

import sys
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import msgspec

from dht import BadStrategy, SignedStrategy, Strategy, decode_signed, encode_signed, parse_document
from node.strategy.draft import ABOUT
from node.views.safe_text import plain_json

MAX_DRAFT_BYTES = 1 << 20


def read_any(source: str) -> Strategy:
    """Read a draft, a signed document, or what `strategy show --json` printed (that version itself)."""
    data = read_file(Path(source))
    if b'"signatures"' in data:
        return parse_document(decode_signed(data).document)
    try:
        fields = msgspec.json.decode(data, type=dict[str, Any])
        if "digest" in fields:
            return msgspec.convert({n: v for n, v in fields.items() if n not in ABOUT}, Strategy)
    except msgspec.DecodeError:
        pass
    try:
        return parse_document(data)
    except BadStrategy as error:
        raise BadStrategy(source, error.reason, error.remedy) from None


def read_file(path: Path) -> bytes:
    """Read the bytes of a strategy document; raises BadStrategy."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_DRAFT_BYTES).removeprefix(BOM_UTF8)
    except OSError as error:
        raise BadStrategy(str(path), error.strerror or str(error), "give the path of a strategy document") from None


def write_signed(signed: SignedStrategy, out: str | None) -> None:
    """Write a signed document to a file, or to standard output."""
    data = encode_signed(signed)
    if out is None:
        text = data.decode()  # its bytes are signed: a program gets all of them
        print(plain_json(text) if sys.stdout.isatty() else text)
    else:
        Path(out).write_bytes(data + b"\n")
