"""Vouchers that were handed out in words are written where their words lead, again each half day, until they end."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dht.clock import Now
from dht.identity.node_key import Identity
from dht.keys import Key
from dht.overlay.own_invitation import AGAIN_S, VoucherUpkeep
from dht.wire.invitation import sign_voucher, voucher_point

INVITER, BEARER = Identity(b"\1" * 32), Identity(b"\2" * 32)
BEGAN, DAY_S = 1_700_000_000, 86_400
VOUCHER = sign_voucher(INVITER, b"n" * 20, BEARER.public_key, 1, BEGAN, BEGAN + DAY_S)


class Written:
    """The key space as far as this test needs it; `nodes`: at how many a record comes to lie."""

    def __init__(self) -> None:
        self.nodes, self.records = 0, list[tuple[Key, bytes, float]]()

    async def write(self, key: Key, value: bytes, life_s: float) -> int:
        self.records.append((key, value, life_s))
        return self.nodes


async def test_a_voucher_is_written_until_it_lies_somewhere_then_each_half_day_and_goes_when_it_ends(
    tmp_path: Path,
) -> None:
    written, now = Written(), [0.0]
    with ThreadPoolExecutor(1) as executor:
        upkeep = VoucherUpkeep(tmp_path / "vouchers", written, lambda: Now(BEGAN + now[0], now[0]), executor)
        await upkeep.step()
        (tmp_path / "vouchers").mkdir()
        (tmp_path / "vouchers" / "damaged").write_text("00ff")
        (tmp_path / "vouchers" / "one").write_text(VOUCHER.hex())
        await upkeep.step()
        written.nodes = 3
        await upkeep.step()
        await upkeep.step()
        assert written.records == [(voucher_point(BEARER.public_key), VOUCHER, DAY_S)] * 2
        now[0] = AGAIN_S
        await upkeep.step()
        assert len(written.records) == 3 and written.records[2][2] == DAY_S - AGAIN_S
        now[0] = DAY_S + 1
        await upkeep.step()
    assert len(written.records) == 3 and [path.name for path in (tmp_path / "vouchers").iterdir()] == ["damaged"]
