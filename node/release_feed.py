"""The list of releases that the makers of dse-node sign: `make release` writes it, and nodes learn of updates by it.

Pure: bytes, keys and the time are arguments. It is signed as strategies are: signatures cover its exact bytes, and a
threshold of the trusted keys must have signed. Source: TUF, sections 5.3 and 5.4 (bounds of size; expiry, so that
whoever serves an old list cannot hide a release for longer than VALID_S).
"""

import re

import msgspec

from dht import BadStrategy, Identity, Publishers, Signature, SignedStrategy, decode_signed, encode_signed, signers
from node.errors import BadFeed

DOMAIN = b"dse releases"
VALID_S = 400 * 86400  # a year, and a month to sign the next list
AHEAD_S = 86400  # what a clock may be wrong by
MAX_RELEASES = 32  # of 24 files and 250 bytes each, which decode_signed reads
MAX_FILES = 24
_VERSION = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6}){2}")
_NAME = re.compile(r"[A-Za-z0-9][\w.+~-]{0,127}", re.A)
_DIGEST = re.compile("[0-9a-f]{64}")


class ReleaseFile(msgspec.Struct, frozen=True):
    """Names one file of a release. It lies beside the list."""

    name: str
    bytes: int
    sha256: str  # hex


class Release(msgspec.Struct, frozen=True):
    """Holds what a release consists of."""

    version: str  # three numbers
    committed_at: int  # Unix seconds
    files: tuple[ReleaseFile, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version in the order of versions."""
        return tuple(int(number) for number in self.version.split("."))


class ReleaseFeed(msgspec.Struct, frozen=True):
    """Lists releases, the newest first."""

    expires_at: int  # Unix seconds
    releases: tuple[Release, ...]


def with_release(feed: ReleaseFeed | None, release: Release) -> ReleaseFeed:
    """Return the list that begins with this release, without older ones of its version and beyond MAX_RELEASES."""
    others = [each for each in feed.releases if each.version != release.version] if feed else []
    ordered = sorted([release, *others], key=lambda each: each.numbers, reverse=True)
    return ReleaseFeed(release.committed_at + VALID_S, tuple(ordered[:MAX_RELEASES]))


def sign_feed(feed: ReleaseFeed, *keys: Identity) -> bytes:
    """Return the file of a list with the signatures of these keys. Equal lists give equal bytes. Raises BadFeed."""
    document = msgspec.json.format(msgspec.json.encode(feed), indent=1)
    decode_feed(document)
    signatures = tuple(Signature(key.public_key.hex(), key.sign(DOMAIN, document).hex()) for key in keys)
    return encode_signed(SignedStrategy(document, signatures))


def read_feed(data: bytes, trusted: Publishers, now: float) -> ReleaseFeed:
    """Verify the file of a list and return it; raises BadFeed where it is not signed enough, expired or broken."""
    try:
        signed = decode_signed(data)
    except BadStrategy as error:
        raise BadFeed("releases", error.reason) from None
    valid = len(signers(signed, trusted, DOMAIN))
    if valid < max(1, trusted.threshold):
        raise BadFeed(
            "releases", f"{valid} valid signatures of {max(1, trusted.threshold)} needed", "do not install it"
        )
    feed = decode_feed(signed.document)
    if now >= feed.expires_at:
        raise BadFeed("releases", "this list has expired", "newer releases may be hidden: fetch it from its makers")
    if any(each.committed_at > now + AHEAD_S for each in feed.releases):
        raise BadFeed("releases", "a release of the future is listed", "check this machine's clock")
    return feed


def decode_feed(document: bytes) -> ReleaseFeed:
    """Read a list without its signatures and check its bounds; raises BadFeed."""
    try:
        feed = msgspec.json.decode(document, type=ReleaseFeed)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadFeed("releases", str(error)) from None
    if not 1 <= len(feed.releases) <= MAX_RELEASES:
        raise BadFeed("releases", f"lists {len(feed.releases)} releases, not 1 to {MAX_RELEASES}")
    for release in feed.releases:
        _check(release)
    numbers = [release.numbers for release in feed.releases]
    if numbers != sorted(set(numbers), reverse=True):
        raise BadFeed("releases", "the newest is not the first")
    return feed


def _check(release: Release) -> None:
    if not _VERSION.fullmatch(release.version):
        raise BadFeed("releases", f"{release.version[:40]!r} is no version")
    names = {each.name for each in release.files}
    if not 1 <= len(names) == len(release.files) <= MAX_FILES:
        raise BadFeed(release.version, f"lists {len(release.files)} files, not 1 to {MAX_FILES} of different names")
    for file in release.files:
        if not (_NAME.fullmatch(file.name) and _DIGEST.fullmatch(file.sha256) and file.bytes > 0):
            raise BadFeed(release.version, f"lists a file that is none: {file.name[:40]!r}")
