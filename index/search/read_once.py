"""Reads each document of one search once, however often it is shown: with what was found first, and with all."""

from collections.abc import Mapping, Sequence

from dht import DocumentId, Key
from index.change_feed import Read, Text


def read_once(read: Read) -> Read:
    """Return what reads documents as `read` does, and gives those that were there again."""
    known: dict[DocumentId, Text] = {}

    async def remembering(wanted: Sequence[tuple[DocumentId, Key]]) -> Mapping[DocumentId, Text | None]:
        new = [(id_, key) for id_, key in wanted if id_ not in known]
        found = dict(await read(new)) if new else {}
        known.update((id_, text) for id_, text in found.items() if text is not None)
        return found | {id_: known[id_] for id_, _ in wanted if id_ in known}

    return remembering
