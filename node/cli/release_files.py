"""Fetches the signed list of releases and a file of one, from a URL or a folder, within bounds, and installs it."""

import platform
import subprocess
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.parse import urljoin
from urllib.request import Request, urlopen

from dht import Publishers
from node.config.settings import UpdatesConfig
from node.errors import BadFeed, NothingToDo
from node.release_feed import Release, ReleaseFeed, ReleaseFile, read_feed
from node.version import VERSION
from node.views.checkup import way_of

MAX_FEED_BYTES = 1 << 20
STEP_S, MOST_S = 30.0, 600.0  # of silence of a server, and of all
PART_BYTES = 1 << 16
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}  # how it names machines


def fetch_feed(config: UpdatesConfig, now: float) -> ReleaseFeed:
    """Return the verified list of releases; raises BadFeed."""
    trusted = Publishers(config.keys, config.threshold)
    return read_feed(_read(config.feed, MAX_FEED_BYTES), trusted, now)


def newer(feed: ReleaseFeed) -> Release | None:
    """Return the newest release, None where this program is as new."""
    newest = feed.releases[0]
    return newest if newest.numbers > tuple(map(int, VERSION.split("."))) else None


def fetch_file(config: UpdatesConfig, file: ReleaseFile, folder: Path) -> Path:
    """Write a file of a release into a folder once it is what the list says; raises BadFeed."""
    source = urljoin(config.feed, file.name) if "://" in config.feed else str(Path(config.feed).with_name(file.name))
    data = _read(source, file.bytes)
    if len(data) < file.bytes:
        raise BadFeed(
            file.name, f"ended after {len(data):,} of {file.bytes:,} bytes", "nothing was installed; try again"
        )
    if sha256(data).hexdigest() != file.sha256:
        raise BadFeed(file.name, "is not what the signed list says", "nothing was installed; tell its makers")
    path = folder / file.name
    path.write_bytes(data)
    return path


def install(config: UpdatesConfig, release: Release, prefix: str, here: Path) -> int:
    """Fetch the file of a release that fits this machine, and install it where this program lies, in `prefix`. Where a
    person must do that, write the file into `here` and say how. Return the code of what installs; raises BadFeed."""
    way, command = way_of(prefix), _command(prefix)
    file = _fitting(release, ".deb" if ".deb" in way else ".whl")
    if not command:
        path = fetch_file(config, file, here)
        print(f"{path.name} is here, and is what the signed list says. Install it:")
        print(f"  {way.replace('NEW.whl', str(path)).replace('./NEW.deb', f'./{path.name}')}")
        return 0
    with TemporaryDirectory() as folder:
        words = [*command, str(fetch_file(config, file, Path(folder)))]
        print(" ".join(words), flush=True)
        code = subprocess.run(words, check=False).returncode
    print(f"{release.version} is installed; start the node anew" if not code else f"it failed with code {code}")
    return code


def _command(prefix: str) -> Sequence[str]:
    """Return the words that install a wheel where this program lies; none where a person must do it."""
    if (Path(prefix) / "pipx_metadata.json").exists():
        return ("pipx", "runpip", "dse-node", "install", "--upgrade")
    if (Path(prefix) / "uv-receipt.toml").exists():
        return ("uv", "pip", "install", "--python", prefix, "--upgrade")
    return ()


def _fitting(release: Release, kind: str) -> ReleaseFile:
    """Return the daemon's file of a kind for this machine."""
    machine = platform.machine()
    ends = (f"_{DEBIAN.get(machine, machine)}.deb",) if kind == ".deb" else (f"_{machine}.whl", "-any.whl")
    names = {file.name: file for file in release.files if file.name.startswith(("dse_node-", "dse-node_"))}
    for end in ends:
        for name, file in names.items():
            if name.endswith(end):
                return file
    raise NothingToDo("update", f"{release.version} has no {kind} for {machine}", "build it from its source")


def _read(source: str, most: int) -> bytes:
    """Read a URL or a file of at most so many bytes; raises BadFeed."""
    ends_at, data = time.monotonic() + MOST_S, bytearray()
    request = Request(source, headers={"User-Agent": f"dse-node/{VERSION}"}) if "://" in source else None
    try:
        with urlopen(request, timeout=STEP_S) if request else Path(source).open("rb") as file:
            while part := file.read(min(PART_BYTES, most + 1 - len(data))):
                data += part
                if len(data) > most:
                    raise BadFeed(source, f"has more than {most:,} bytes", "check updates.feed")
                if time.monotonic() > ends_at:
                    raise BadFeed(source, f"took longer than {MOST_S:g} s", "try again")
    except (OSError, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        said = reason.strerror if isinstance(reason, OSError) and reason.strerror else str(reason)
        raise BadFeed(source, said.lower(), "check updates.feed and the network") from None
    return bytes(data)
