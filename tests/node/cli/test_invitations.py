"""invite and accept: files and words that let nodes in, who may sign them, and what is refused with a remedy."""

import json
import stat
from pathlib import Path

import pytest

from bootstrap.networks import load_network, split_invitation
from dht import Identity, Strategy, decode_signed, encode_document, encode_signed, parse_document, sign_strategy
from dht.strategy.document import Admitter, Revocation
from dht.strategy.history import StrategyHistory
from dht.wire.invitation import open_voucher, parse_invitation, voucher_id, voucher_point
from node.cli.main import main
from node.config.data_dir import DataDir

DAY_S = 86_400


@pytest.fixture
def home(tmp_path: Path) -> DataDir:
    """The first node of a network of its own, with the publisher's keys beside."""
    assert main(["init", "--data-dir", str(tmp_path / "home"), "--yes"]) == 0
    return DataDir(tmp_path / "home")


def invite(home: DataDir, *options: str) -> int:
    return main(["invite", "--data-dir", str(home.root), *options])


def given(file: Path) -> tuple[object, ...]:
    invitation = split_invitation(file.read_text())[1]
    assert invitation is not None
    voucher = open_voucher(invitation.voucher)
    return voucher.uses, voucher.expires_at - voucher.made_at, voucher.inviter


def next_strategy(home: DataDir, **changes: object) -> None:
    """Let the node know the next version, as if it ran."""
    first = load_network(home.network).first
    strategy = parse_document(first.document)
    key = next(home.keys.glob("*.publisher.key"))
    fields = {name: getattr(strategy, name) for name in strategy.__struct_fields__}
    wanted = Strategy(**fields | {"version": 2, "previous": first.digest} | changes)
    (home.dht / "strategy").mkdir(parents=True)
    signed = sign_strategy(encode_document(wanted), Identity.load(key))
    (home.dht / "strategy" / "000002.json").write_bytes(encode_signed(decode_signed(encode_signed(signed))))


def test_an_invitation_is_a_network_file_of_which_the_node_keeps_the_secret_half_apart(
    home: DataDir, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, friend = tmp_path / "ann.toml", DataDir(tmp_path / "friend")
    assert invite(home, "--uses", "3", "--days", "2", "--out", str(file)) == 0
    said = capsys.readouterr().out
    publisher = Identity.load(next(home.keys.glob("*.offline.key")))
    assert given(file) == (3, 2 * DAY_S, publisher.public_key) and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "for 3 nodes, until" in said and "keep it like a key" in said
    assert main(["init", "--network", str(file), "--data-dir", str(friend.root), "--yes"]) == 0
    assert load_network(friend.network).id == load_network(home.network).id
    assert (
        "dse-invitation" not in friend.network.read_text() and stat.S_IMODE(friend.invitation.stat().st_mode) == 0o600
    )
    voucher = parse_invitation(friend.invitation.read_text()).voucher
    assert f"--revoke {voucher_id(voucher).hex()}" in said
    assert "by invitation" not in capsys.readouterr().err
    assert invite(home, "--out", str(file)) == 1, "no file is written over"


def test_words_lead_to_a_voucher_that_the_node_keeps_findable(
    home: DataDir, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invite(home, "--words", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    (kept,) = home.vouchers.iterdir()
    voucher = open_voucher(bytes.fromhex(kept.read_text()))
    assert kept.name == told["id"] and voucher.uses == 1
    friend = DataDir(tmp_path / "friend")
    plain = ["init", "--network", str(home.network), "--data-dir", str(friend.root), "--yes"]
    assert main([*plain, "--invitation", told["words"]]) == 0
    held = parse_invitation(friend.invitation.read_text())
    assert voucher_point(held.bearer.public_key) == voucher_point(voucher.bearer) and not held.voucher
    assert told["words"] not in home.invitation.read_text() + "".join(p.read_text() for p in home.vouchers.iterdir())


def test_a_node_without_an_invitation_is_told_at_once_and_takes_one_later(
    home: DataDir, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    friend, file = DataDir(tmp_path / "friend"), tmp_path / "late.toml"
    init = ["init", "--network", str(home.network), "--data-dir", str(friend.root), "--yes"]
    assert main(init) == 0 and not friend.invitation.exists()
    assert "needs an invitation, and the network file contains none" in capsys.readouterr().err
    assert invite(home, "--out", str(file)) == 0
    assert main(["accept", str(file), "--data-dir", str(friend.root)]) == 0
    assert "for 1 node" in capsys.readouterr().out
    first = friend.invitation.read_text()
    assert main(["accept", *["zoo", "zoo", "zoo", "zoo", "zoo", "zoo", "zoo"], "--data-dir", str(friend.root)]) == 0
    assert friend.invitation.read_text() != first and stat.S_IMODE(friend.invitation.stat().st_mode) == 0o600


def test_what_is_no_invitation_to_this_network_is_refused_with_a_remedy(
    home: DataDir, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, elsewhere = tmp_path / "other.toml", DataDir(tmp_path / "elsewhere")
    assert main(["network", "new", "other", "--out", str(other)]) == 0
    plain = tmp_path / "plain.toml"
    plain.write_text(home.network.read_text())
    broken = tmp_path / "broken.toml"
    broken.write_text(other.read_text()[:-20] + '"\n')
    for given_as, why in (
        (str(other), "is for the network"),
        (str(plain), "a network file without one"),
        (str(tmp_path / "none"), "cannot be read"),
        ("seven wrong words", "has 3 words"),
        (str(broken), "the invitation "),
    ):
        assert main(["accept", given_as, "--data-dir", str(home.root)]) == 2
        assert why in capsys.readouterr().err
        init = ["init", "--network", str(home.network), "--invitation", given_as, "--data-dir", str(elsewhere.root)]
        assert main([*init, "--yes"]) == 2 and not elsewhere.config.exists(), "no half-made node"


def test_who_may_not_invite_is_told_who_may(home: DataDir, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    friend, file = DataDir(tmp_path / "friend"), tmp_path / "out.toml"
    assert main(["init", "--network", str(home.network), "--data-dir", str(friend.root), "--yes"]) == 0
    mine = Identity.load(friend.identity).public_key
    assert invite(friend, "--out", str(file)) == 2 and not file.exists()
    assert f"have a publisher run `dse-node strategy draft --admit {mine.hex()}`" in capsys.readouterr().err
    for path in home.keys.glob("*.publisher.key"):
        path.rename(friend.keys / path.name)
    next_strategy(friend, admitters=(Admitter(mine.hex()),))
    for path in friend.keys.glob("*.publisher.key"):
        path.rename(home.keys / path.name)
    assert invite(friend, "--out", str(file)) == 0
    assert given(file) == (1, 7 * DAY_S, mine), "admitted, it signs with its own key"


def test_a_key_that_is_revoked_signs_nothing_more(home: DataDir, tmp_path: Path) -> None:
    keys = [Identity.load(path).public_key for path in sorted(home.keys.glob("*.key"))]
    next_strategy(home, revoked=(Revocation(keys[0].hex()),))
    assert invite(home, "--out", str(tmp_path / "out.toml")) == 0
    assert given(tmp_path / "out.toml")[2] == keys[1]


def test_an_open_network_has_no_use_for_invitations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, home = tmp_path / "wide.toml", DataDir(tmp_path / "home")
    assert main(["network", "new", "wide", "--open", "--puzzle-bits", "0", "--out", str(file)]) == 0
    assert main(["init", "--network", str(file), "--data-dir", str(home.root), "--yes"]) == 0
    assert "by invitation" not in capsys.readouterr().err
    assert invite(home, "--out", str(tmp_path / "out.toml")) == 2
    assert "not by invitation" in capsys.readouterr().err


def test_the_founder_invites_with_the_key_that_was_made_beside_the_network_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, home, out = tmp_path / "campus.toml", DataDir(tmp_path / "home"), tmp_path / "for-ann.toml"
    assert main(["network", "new", "campus", "--out", str(file)]) == 0
    assert main(["init", "--network", str(file), "--data-dir", str(home.root), "--yes"]) == 0
    copy = home.keys / "campus.publisher.key"
    assert str(copy) in capsys.readouterr().err and stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert [path.name for path in home.keys.iterdir()] == [copy.name], "the offline key stays out of the node"
    newest = StrategyHistory(load_network(home.network), home.strategies).newest
    assert (newest.version, newest.tie_breaker) == (2, Identity.load(home.identity).node_id.hex())
    assert invite(home, "--out", str(out)) == 0
    assert given(out) == (1, 7 * DAY_S, Identity.load(tmp_path / "campus.publisher.key").public_key)
    guest = DataDir(tmp_path / "guest")
    assert main(["init", "--network", str(file), "--data-dir", str(guest.root), "--yes"]) == 0
    assert not list(guest.keys.iterdir()), "only the founder gets a copy"
