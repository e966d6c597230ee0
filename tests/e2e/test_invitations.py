"""docs/campus.md, "Invite others": a friend comes by a file, another by words; one without is told; one is put out."""

import json
from pathlib import Path

import pytest
from machines import Machine, dse_node, linked, village, wait_until

pytestmark = pytest.mark.e2e
WEB = {"town.test": linked(["library"], "town.test", "town.test")}
JOIN_S, TOLD_S, OUT_S = 10.0, 30.0, 60.0


def sees(machine: Machine, members: int) -> bool:
    return len(machine.get("/api/v1/peers")["peers"]) == members


def owned(machine: Machine) -> int:
    return int(machine.status()["slots"]["owned"])


def warned(machine: Machine, words: str) -> bool:
    return any(words in warning for warning in machine.status()["warnings"])


def test_friends_come_by_file_and_by_words_a_stranger_is_told_and_a_guest_is_put_out(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 21300) as town:
        new = ("network", "new", "campus", "--out", "campus.toml", "--bootstrap", f"127.0.0.1:{town.ports[-1]}")
        assert "an invitation for 10 nodes" in " ".join(dse_node(*new, home=tmp_path).stdout.split())
        one = town.add("one", "node.families=[4]")
        one.start()
        wait_until("the founder owns all", lambda: owned(one) > 0)
        key = ("--key", str(tmp_path / "campus.publisher.key"))

        made = json.loads(one.do("invite", *key, "--uses", "2", "--out", str(tmp_path / "ann.toml"), "--json"))
        ann = town.add("ann", "node.families=[4]", network=tmp_path / "ann.toml")
        ann.start()
        took_s = wait_until("ann is a member", lambda: sees(one, 2) and sees(ann, 2) and owned(ann), 2 * JOIN_S)
        assert took_s <= JOIN_S

        words = json.loads(one.do("invite", *key, "--words", "--json"))["words"]
        plain = one.data / "network.toml"
        ben = town.add("ben", "node.families=[4]", network=plain, invitation=words)
        ben.start()
        wait_until("ben is one by his words", lambda: sees(one, 3) and sees(ben, 3) and owned(ben), 3 * JOIN_S)

        stranger = town.add("stranger", "node.families=[4]", network=plain)
        stranger.start()
        wait_until("a stranger is told", lambda: warned(stranger, "this network is by invitation"), TOLD_S)
        assert sees(one, 3) and not owned(stranger)

        told = {peer["node_id"]: peer["invited_by"] for peer in ben.get("/api/v1/peers")["peers"]}
        by = told[ann.status()["node_id"]]
        assert made["id"].startswith(by["voucher"]) and by["uses"] == 2
        assert f"{by['voucher']} by {by['inviter']}" in ben.do("peers"), "all members can see by what ann came in"
        one.do("strategy", "draft", "--revoke", by["voucher"], "--out", "draft.json")
        one.do("strategy", "sign", "draft.json", *key, "--out", "signed.json", "--yes")
        assert "adopted: version 2" in one.do("strategy", "publish", "signed.json")
        wait_until("ann is out", lambda: sees(one, 2) and sees(ben, 2), OUT_S)
        wait_until("and says so", lambda: warned(ann, "was revoked") and not owned(ann), OUT_S)
