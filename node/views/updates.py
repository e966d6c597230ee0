"""Judges whether a node should be updated, as `dse-node update` shows it: by what its own network says.

Pure: versions and the answers of a running node in, findings out. Nobody else is asked, and peers do not say theirs.
"""

from collections.abc import Iterator
from dataclasses import replace

from node.views.checkup import Finding, fault_finding, version_finding
from node.views.lenient_json import Json
from node.views.safe_text import plain

WAYS = (  # what the path of an installed program tells, and what puts a newer one in its place
    ("/usr/lib/dse-node", "sudo apt install ./dse-node_VERSION.deb"),
    ("/pipx/", "pipx install --force NEW.whl"),
    ("/uv/tools/", "uv tool install --force NEW.whl"),
    ("/opt/dse-node", "build the image anew, and start the container from it"),
)


def way_of(prefix: str) -> str:
    """Say how a program that lies in `prefix` is updated (docs/volunteer.md has all ways)."""
    return next(
        (way for part, way in WAYS if part in f"{prefix}/"), "pip install --upgrade NEW.whl, where it was installed"
    )


def update_findings(
    command: str, prefix: str, status: Json, peers: list[Json], strategy: Json, why: object = "it does not run"
) -> Iterator[Finding]:
    """Yield what is known of versions. `command`: this program's, in `prefix`; `status`: empty where no node answers,
    and then `why`."""
    yield Finding("command", "good", f"{command}, in {prefix}")
    if not status:
        yield fault_finding("node", why, "start it: dse-node run")
        return
    runs = plain(status.get("version", ""))
    if runs == command:
        yield Finding("node", "good", f"{runs} runs")
    else:
        yield Finding("node", "look", f"{runs} runs", f"start it anew, so that {command} does")
    asked = version_finding(status, peers, strategy)
    yield replace(asked, name="network", remedy=f"{asked.remedy}: {way_of(prefix)}" if asked.remedy else "")
