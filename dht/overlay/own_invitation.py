"""The invitation of this node: it finds the voucher where that was handed over in words, and shows it."""

from pathlib import Path

from dht.clock import Clock
from dht.errors import BadInvitation
from dht.overlay.point_records import PointRecords
from dht.protocol.engine import ProtocolEngine
from dht.wire.invitation import (
    Invitation,
    invited_by,
    open_voucher,
    parse_invitation,
    voucher_id,
    voucher_point,
)

NOT_FOUND = "its words lead to no invitation yet: check them, or ask whoever gave them whether that node runs"


class OwnInvitation:
    """Shows one node's invitation to whoever is asked to name it."""

    def __init__(self, core: ProtocolEngine, path: Path | None, records: PointRecords, clock: Clock) -> None:
        """`path`: of the file that holds it; there need be none."""
        self._core, self._records, self._clock = core, records, clock
        self._invitation, self._flaw = _read(path)
        self._say()

    @property
    def shown(self) -> bytes:
        """The invitation to show; b"" where there is none."""
        held = self._invitation
        if held is None or not held.voucher:
            return b""
        return held.show(self._core.rules.network, self._core.own.public_key)

    def flaw(self) -> str:
        """Say why there is nothing to show; "" where there is something, or nothing was given."""
        if self._flaw or self._invitation is None or self._invitation.voucher:
            return self._flaw
        return NOT_FOUND

    async def find(self) -> None:
        """Look for the voucher that the words mean, where it is still to be found."""
        held = self._invitation
        if held is None or held.voucher:
            return
        bearer = held.bearer.public_key
        for record in await self._records.read(voucher_point(bearer)):
            try:
                voucher = open_voucher(record.value)
            except BadInvitation:
                continue
            if voucher.bearer == bearer and voucher.network == self._core.rules.network:
                self._invitation = Invitation(held.seed, record.value)
                self._say()
                return

    def _say(self) -> None:
        held = self._invitation
        if held is not None and held.voucher:
            self._core.own.invite(invited_by(open_voucher(held.voucher), voucher_id(held.voucher)))
            self._core.members.claim_own(self._core.own.claim())


def _read(path: Path | None) -> tuple[Invitation | None, str]:
    """Read the file; return the invitation, or what is wrong with it."""
    if path is None or not path.exists():
        return None, ""
    try:
        if (mode := path.stat().st_mode) & 0o077:
            return None, f"{path}: other users may read it (mode {mode & 0o777:o}); run: chmod 600 {path}"
        return parse_invitation(path.read_text("ascii")), ""
    except (OSError, UnicodeDecodeError) as error:
        return None, f"its invitation {path} cannot be read ({error}); run `dse-node accept` with another one"
    except BadInvitation as error:
        return None, f"{path}: {error}"
