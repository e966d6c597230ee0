"""Says all that is wrong with a line of JSON lines at once, so that who wrote it mends it in one go.

Pure. It reads only lines that are no capture, field by field: ordinary ones are decoded without it. A report is
bounded: it names fields that a line may have, and the beginnings of their values.
"""

import msgspec

SHOWN_CHARS = 40  # of a value that is wrong
NEEDED = (
    "a line needs url, captured_at and status; "
    "with status 200 also media_type, or Content-Type in headers, unless its content begins as HTML"
)
_REMEDIES = {
    "url": "the page's address, with http:// or https://",
    "captured_at": "Unix seconds, such as 1750000000.5",
    "status": "a whole number, such as 200",
    "media_type": "text, such as text/html",
    "headers": 'pairs of texts, such as [["Content-Type", "text/html"]]',
    "request": 'pairs of texts, such as [["Host", "a.example"]]',
    "content": "text; bytes that are no UTF-8 belong into content_base64",
    "content_base64": "base64 with its padding (RFC 4648)",
    "content_digest": "sha256: and the body's SHA-256 in hexadecimal digits, or leave it out",
    "expires_at": "Unix seconds, or leave it out",
}
_ANY_TEXT = "text, or leave it out"
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_BROKEN = (ValueError, RecursionError)  # msgspec's errors are ValueErrors


class LineFlaws(dict[str, str]):
    """Collects what is wrong with a line, by the name of the field; of each field the first flaw counts."""

    def missing(self, name: str) -> None:
        """Note that a line lacks a field."""
        self.setdefault(name, f"{name} is missing: give {_REMEDIES.get(name, _ANY_TEXT)}")

    def wrong(self, name: str, value: object) -> None:
        """Note that a field has a value that it cannot have."""
        self.setdefault(name, f"{name} is {_told(value)}: give {_REMEDIES.get(name, _ANY_TEXT)}")

    def too_large(self, name: str, size: int, most: int, unit: str) -> None:
        """Note that a field holds more than is allowed."""
        self.setdefault(name, f"{name} has {size:,} {unit}: {most:,} are allowed")

    def reason(self) -> str:
        """Return all that is wrong, and what a line needs."""
        return "; ".join((*self.values(), NEEDED))


def sound_fields(line: bytes, kind: type[msgspec.Struct], flaws: LineFlaws) -> dict[str, object]:
    """Return the fields of a line that are as `kind` has them, and note a flaw for each other field of `kind`. Raises
    ValueError where the line is no object of JSON."""
    try:
        raw = _OBJECT.decode(line)
    except _BROKEN as error:
        raise ValueError(f"it is not an object of JSON ({error}); {NEEDED}") from None
    sound: dict[str, object] = {}
    for field in msgspec.structs.fields(kind):
        if field.name not in raw:
            if field.required:
                flaws.missing(field.name)
            continue
        try:
            sound[field.name] = msgspec.json.decode(raw[field.name], type=field.type)
        except _BROKEN:
            flaws.wrong(field.name, raw[field.name])
    return sound


def _told(value: object) -> str:
    """Return the beginning of a value as JSON has it."""
    told = bytes(value if isinstance(value, msgspec.Raw) else msgspec.json.encode(value)).decode(errors="replace")
    return told if len(told) <= SHOWN_CHARS else f"{told[:SHOWN_CHARS]}…"
