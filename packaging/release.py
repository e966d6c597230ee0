"""Builds a release from a checkout without changes: packaging/release.py build DIR, then packaging/release.py sign DIR.

`build` makes wheels, source archives, the Debian package, the SBOM and the notes. `sign` lists whatever lies in DIR,
so that files of other machines may be added between: SHA256SUMS for people, releases.json for nodes.

RELEASE_KEY: a key file of dse-node that signs both lists; without it they stay unsigned.
RELEASE_FEED: the former releases.json, whose releases the new one goes on with.
SOURCE_DATE_EPOCH: the time of all files, instead of the commit's; changes in the checkout are then packed, too.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sbom import sbom_of

from dht import Identity, decode_signed
from node.release_feed import Release, ReleaseFile, decode_feed, sign_feed, with_release
from node.version import VERSION

ROOT = Path(__file__).resolve().parents[1]
PINS = ROOT / "packaging" / "pins.txt"
SUMS, FEED = "SHA256SUMS", "releases.json"
SIGNATURE = "SHA256SUMS.sig"  # 64 bytes of Ed25519 over SUMS, which openssl verifies


def run(*command: str | Path) -> str:
    """Run a command at the root of the checkout and return what it printed; raises CalledProcessError."""
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def commit_time() -> int:
    """Return the time of the commit, Unix seconds; ends the program where checkout or tag differ from it."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    if changed := run("git", "status", "--porcelain"):
        sys.exit(f"a release is built from a commit, and these files differ from it:\n{changed}")
    if (tags := run("git", "tag", "--list", "v*", "--points-at", "HEAD").split()) and f"v{VERSION}" not in tags:
        sys.exit(f"this commit has the tag {tags[0]}, but node/version.py says {VERSION}")
    return int(run("git", "log", "-1", "--format=%ct"))


def build(out: Path) -> None:
    """Make all files of a release that this machine can make."""
    made_at = commit_time()
    newest = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)[1]
    if not newest.startswith(VERSION):
        sys.exit(f"the newest section of CHANGELOG.md is not about {VERSION}: {newest.splitlines()[0]}")
    os.environ |= {"SOURCE_DATE_EPOCH": str(made_at), "PYTHONHASHSEED": "0", "PIP_CONSTRAINT": str(PINS)}
    if sys.platform == "linux":
        os.environ["LDSHARED"] = "cc -shared"  # how Python itself was linked may name its folder in a library's path
    os.umask(0o022)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for source in (ROOT, ROOT / "clients" / "python"):
        run(sys.executable, "-m", "build", "--outdir", out, source)
    (wheel,) = out.glob(f"dse_node-{VERSION}-*.whl")
    if shutil.which("dpkg-deb"):
        os.environ["PIP"] = f"{sys.executable} -m pip"
        run(ROOT / "packaging" / "build_deb.sh", wheel, out)
    else:
        print("no Debian package: dpkg-deb is not on this machine")
    (out / f"dse-node-{VERSION}-{platform.machine()}.cdx.json").write_text(bill_of(wheel, made_at))
    (out / "RELEASE_NOTES.md").write_text(f"# {newest}")


def bill_of(wheel: Path, made_at: int) -> str:
    """Return the SBOM of all that pip would install with the wheel on this machine."""
    with TemporaryDirectory() as folder:
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "-w", folder, wheel)
        return sbom_of(Path(folder).glob("*.whl"), "dse-node", made_at)


def sign(out: Path) -> None:
    """List the files of a release with their digests, and sign the list where there is a key."""
    files = [each for each in sorted(out.iterdir()) if each.is_file() and each.name not in (SUMS, SIGNATURE, FEED)]
    digests = {each.name: sha256(each.read_bytes()).hexdigest() for each in files}
    (out / SUMS).write_text("".join(f"{digest}  {name}\n" for name, digest in digests.items()))
    listed = tuple(ReleaseFile(each.name, each.stat().st_size, digests[each.name]) for each in files)
    former = os.environ.get("RELEASE_FEED")
    before = decode_feed(decode_signed(Path(former).read_bytes()).document) if former else None
    key = os.environ.get("RELEASE_KEY")
    keys = [Identity.load(Path(key))] if key else []
    feed = with_release(before, Release(VERSION, commit_time(), listed))
    (out / FEED).write_bytes(sign_feed(feed, *keys))
    (out / SIGNATURE).unlink(missing_ok=True)
    for each in keys:
        signer = Ed25519PrivateKey.from_private_bytes(each.private_bytes())
        (out / SIGNATURE).write_bytes(signer.sign((out / SUMS).read_bytes()))
    print(
        "signed by " + keys[0].public_key.hex()
        if keys
        else f"{FEED} and {SUMS} are unsigned: RELEASE_KEY names no key file"
    )


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("build", "sign"):
        sys.exit(f"usage: {sys.argv[0]} build|sign DIR")
    {"build": build, "sign": sign}[sys.argv[1]](Path(sys.argv[2]).absolute())
