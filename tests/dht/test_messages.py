"""The overlay's own messages refuse bad input before they are decoded whole."""

import msgspec
import pytest

from dht.messages import MAX_CHAIN, MAX_CLAIMS, MAX_RELEASES, Claim, LeaseRelease, LeaseRequest, Message, StrategyChain

CLAIM = Claim(1, 2, b"12345678", False)


@pytest.mark.parametrize(
    ("fits", "too_long"),
    [
        (LeaseRequest(8, (CLAIM,) * MAX_CLAIMS), LeaseRequest(8, (CLAIM,) * (MAX_CLAIMS + 1))),
        (LeaseRelease(8, ((1, 2),) * MAX_RELEASES), LeaseRelease(8, ((1, 2),) * (MAX_RELEASES + 1))),
        (StrategyChain((b"",) * MAX_CHAIN), StrategyChain((b"",) * (MAX_CHAIN + 1))),
    ],
)
def test_lists_are_bounded(fits: Message, too_long: Message) -> None:
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(fits), type=type(fits)) == fits
    with pytest.raises(msgspec.ValidationError):
        msgspec.msgpack.decode(msgspec.msgpack.encode(too_long), type=type(fits))
