"""What `dse-node update` says: of a newer command, and of a network that asks for more than this version knows."""

from node.views.updates import update_findings

STATUS = {"version": "0.1.0", "strategy": {"version": 3}}
PREFIX = "/root/.local/share/pipx/venvs/dse-node"


def test_a_newer_program_waits_for_a_restart_and_a_stopped_node_says_nothing() -> None:
    found = {finding.name: finding for finding in update_findings("0.2.0", PREFIX, STATUS, [], {})}
    assert found["node"].health == "look" and "0.2.0" in found["node"].remedy and found["network"].health == "good"
    command, node = update_findings("0.2.0", PREFIX, {}, [], {}, "no node lives here; make one")
    assert (command.name, node.health, node.found, node.remedy) == ("command", "bad", "no node lives here", "make one")


def test_what_the_network_asks_for_is_named_with_the_way_to_update() -> None:
    strategy = {"not_understood": ["need 'colour'"]}
    for prefix, way in ((PREFIX, "pipx"), ("/usr/lib/dse-node", "apt"), ("/home/ann/v", "pip install")):
        *_, network = update_findings("0.1.0", prefix, STATUS, [], strategy)
        assert network.health == "bad" and "colour" in network.found and way in network.remedy
