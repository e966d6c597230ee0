"""Reads what somebody gives a node to join a network by: a network file or its URL, and an invitation."""

import asyncio
from pathlib import Path

from bootstrap import from_words, is_url, is_words, load_network, split_invitation
from dht import BadInvitation, Invitation, open_voucher, parse_invitation
from node.errors import error_text

MAX_FILE_BYTES = 1 << 20


def given_network(given: str) -> str:
    """Return the checked text of a network file, given its path or its URL. Blocks."""
    if is_url(given):
        from bootstrap import fetch_network  # it loads an HTTP client, which files need not

        return asyncio.run(fetch_network(given))[0]
    return Path(given).read_text() if load_network(Path(given)) else ""


def invitation_for(network: str, given: str) -> Invitation | None:
    """Return the invitation that somebody gives, as words or a file, else the one in the text of a network file. Raises
    BadInvitation where `given` holds none, or one for another network."""
    identifier = load_network(network).id
    found = _given(given, identifier) if given else split_invitation(network)[1]
    if found is not None and found.voucher and (other := open_voucher(found.voucher).network.hex()) != identifier:
        raise BadInvitation(f"is for the network {other}, this is {identifier}", "ask for one for this network")
    return found


def _given(given: str, network: str) -> Invitation:
    if is_words(given) and not Path(given).exists():
        return from_words(given, network)
    path = Path(given)
    try:
        with path.open("rb") as file:
            text = file.read(MAX_FILE_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = f"{given[:80]!r} cannot be read ({error_text(error)})"
        raise BadInvitation(reason, "give seven words, or the path of a file") from None
    if text.lstrip().startswith("dse-invitation"):
        return parse_invitation(text)
    load_network(path)
    found = split_invitation(text)[1]
    if found is None:
        raise BadInvitation(f"is not in {given[:80]!r}, which is a network file without one", "ask for another file")
    return found
