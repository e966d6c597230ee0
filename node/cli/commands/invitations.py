"""Does the verbs about invitations: invite, accept."""

import time
from argparse import Namespace
from pathlib import Path
from random import SystemRandom

from bootstrap import from_words, load_network, new_words, with_invitation
from dht import (
    BadInvitation,
    Identity,
    Invitation,
    Strategy,
    StrategyHistory,
    counted,
    open_voucher,
    voucher_id,
    write_secret,
)
from node.cli.commands.output import print_facts, print_json
from node.cli.commands.process import holder
from node.cli.commands.target_node import data_dir
from node.config.data_dir import DataDir
from node.errors import BadDataDir
from node.joining.given_network import invitation_for
from node.strategy.founding import make_invitation
from node.views.safe_text import day

MOST_WORDS = 64  # vouchers that one node keeps findable


def invite(arguments: Namespace) -> int:
    """Sign an invitation; write it into a network file, or print its words."""
    data = data_dir(arguments)
    data.check()
    text = data.network.read_text()
    network = load_network(text).id
    strategy = _newest(data)
    if strategy.admission != "invited":
        remedy = "its members need none; see `dse-node strategy draft --set admission=invited`"
        raise BadInvitation("has no use: this network is not by invitation", remedy)
    out = Path(arguments.out) if arguments.out else None
    if out is not None and out.exists():
        raise BadDataDir(str(out), "is there already", "choose another --out, or move it away")
    inviter = _inviter(data, strategy, arguments.key)
    words = "" if out is not None else new_words(SystemRandom())
    bearer = from_words(words, network) if words else None
    made = make_invitation(inviter, network, arguments.uses, arguments.days, bearer)
    if out is None:
        _keep_findable(data, made)
    else:
        write_secret(out, with_invitation(text, made))
    facts = dict(invitation_facts(made))
    found = {"words": words} if words else {"file": str(out)}
    if arguments.json:
        print_json(found | {"id": voucher_id(made.voucher).hex(), "uses": arguments.uses})
        return 0
    print_facts([*found.items(), *facts.items()])
    print("\nAnyone with this invitation can join, so keep it like a key. To revoke it, a publisher runs:")
    print(f"  dse-node strategy draft --revoke {voucher_id(made.voucher).hex()} --out draft.json")
    if words:
        print('They join with: dse-node init --network FILE --invitation "WORDS", while this node runs.')
    return 0


def accept(arguments: Namespace) -> int:
    """Give the node another invitation; it is shown from the next start on."""
    data = data_dir(arguments)
    data.check()
    found = invitation_for(data.network.read_text(), " ".join(arguments.invitation))
    assert found is not None
    data.invite(str(found))
    print_facts(invitation_facts(found))
    commands = "`dse-node stop`, then `dse-node run`" if holder(data) else "`dse-node run`"
    print(f"The node uses it after its next start: {commands}")
    return 0


def invitation_facts(invitation: Invitation | None) -> list[tuple[str, str]]:
    """Describe an invitation for people; nothing where there is none."""
    if invitation is None or not invitation.voucher:
        return []
    voucher, identifier = open_voucher(invitation.voucher), voucher_id(invitation.voucher).hex()
    nodes = counted(voucher.uses, "node")
    return [("invitation", f"{identifier}: for {nodes}, until {day(voucher.expires_at)}")]


def _newest(data: DataDir) -> Strategy:
    folder = data.strategies
    return StrategyHistory(load_network(data.network), folder if folder.is_dir() else None).newest


def _inviter(data: DataDir, strategy: Strategy, given: str | None) -> Identity:
    """Return the key to sign with: the one given, else the first here that may invite; raises BadInvitation."""
    until = {admitter.key: admitter.until or float("inf") for admitter in strategy.admitters}
    may = {key for key, ends in until.items() if ends > time.time()} | set(strategy.publishers)
    may -= {revocation.id for revocation in strategy.revoked}
    paths = [Path(given)] if given else [*sorted(data.keys.glob("*.key")), data.identity]
    found = [Identity.load(path) for path in paths]
    if key := next((each for each in found if each.public_key.hex() in may), None):
        return key
    mine = found[-1].public_key.hex()
    remedy = f"give --key PUBLISHER.key, or have a publisher run `dse-node strategy draft --admit {mine}`"
    raise BadInvitation(f"cannot be signed: {paths[-1]} may not invite", remedy)


def _keep_findable(data: DataDir, made: Invitation) -> None:
    """Put a voucher where the running node finds it, which writes it into the network."""
    data.vouchers.mkdir(mode=0o700, exist_ok=True)
    if len(list(data.vouchers.iterdir())) >= MOST_WORDS:
        reason = f"holds {MOST_WORDS} vouchers already"
        raise BadDataDir(str(data.vouchers), reason, "give --out, or wait until some end")
    write_secret(data.vouchers / voucher_id(made.voucher).hex(), made.voucher.hex() + "\n")
