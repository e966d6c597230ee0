"""Says which bytes of a draft are signed, and finds publishers' keys on this machine."""

import logging
from collections.abc import Collection
from pathlib import Path

from dht import BadIdentity, Identity, Strategy, encode_document
from node.strategy.founding import PUBLISHER_KEY
from node.views.safe_text import plain_json

log = logging.getLogger(__name__)


def document_to_sign(strategy: Strategy) -> bytes:
    """Write a document for signatures: what would steer a terminal is escaped in it."""
    return plain_json(encode_document(strategy).decode()).encode()


def own_keys(folder: Path, publishers: Collection[str]) -> list[Identity]:
    """Return the keys in a folder that belong to these publishers; the log names files that hold none."""
    found: dict[str, Identity] = {}
    for path in sorted(folder.glob(f"*{PUBLISHER_KEY}")):
        try:
            key = Identity.load(path)
        except BadIdentity as error:
            log.warning("a publisher's key is left aside: %s", error)
            continue
        if key.public_key.hex() in publishers:
            found[key.public_key.hex()] = key
    return list(found.values())
