"""What is sealed inside the packets that carry small messages: the message as it was asked, and what it was told.

Pure: values only. Both are msgpack arrays; `about` binds them to one transaction of one sender.
"""

from enum import IntEnum
from typing import Annotated

import msgspec
from msgspec import Meta


class Verdict(IntEnum):
    """Says what became of a message."""

    ANSWERED = 0
    REFUSED = 1  # the body is one line of text that says why
    BY_TLS = 2  # it has to be asked over TLS: its answer is too long for packets, or it is not to be asked in them


class AskedMessage(msgspec.Struct, frozen=True, array_like=True):
    """Holds a message by its name, and the asker's wall clock: an old one that somebody recorded is not answered."""

    at: float
    name: Annotated[str, Meta(max_length=64)]
    body: bytes


class ToldMessage(msgspec.Struct, frozen=True, array_like=True):
    """Holds the encoded answer, or why there is none."""

    verdict: Verdict
    body: bytes


def about(kind: int, network: bytes, transaction: bytes, public_key: bytes) -> bytes:
    """Return what sealed bytes belong to: the kind of packet, the network, the transaction and the sender's key."""
    return bytes([kind]) + network + transaction + public_key
