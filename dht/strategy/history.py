"""Keeps the strategies that this node has accepted, version by version, and says which one is in force.

Each version is a readable file (`000002.json`) in a folder of the data directory. Every version is kept, because later
joiners must see the chain of publishers. Only `_keep` and `_load` touch the disk.

Adoption: version + 1 naming our newest, signed by its publishers. A fork is another valid version where we have one.
All nodes choose the lower digest. The loser is kept as `fork-….json` and warned of. History up to the last change of
publishers is closed: keys that were removed cannot rewrite it.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from dht.clock import Now, system_clock
from dht.errors import BadStrategy
from dht.keys import NodeId
from dht.local_faults import FaultSite, LocalFaults, refused, write_atomically
from dht.messages import MAX_CHAIN
from dht.strategy.document import (
    FEATURES,
    Publishers,
    SignedStrategy,
    Strategy,
    decode_signed,
    encode_signed,
    parse_document,
    unknown_parts,
)
from dht.strategy.network import Network
from dht.strategy.validation import check, signers

log = logging.getLogger(__name__)

MAX_CHAIN_BYTES = 4 << 20
MAX_VERSIONS = 10_000  # a version a day for 27 years
MAX_FORKS = 16
NAMED = 8  # of a newer version's fields and rules, in a warning
SOON_S = 7 * 86400.0
FORMER_S = 86400.0  # slots are handed over at a bounded rate: so long their former owners count as such


@dataclass(frozen=True, slots=True)
class AdoptedStrategy:
    """One accepted version, with who signed it and what competed with it."""

    strategy: Strategy
    digest: str
    signed_by: tuple[str, ...]  # trusted publishers whose signatures hold, hex
    changes_publishers: bool  # the version after it needs others' signatures than it did itself
    rivals: tuple[str, ...]  # digests of other versions of this number, signed as well, which were not kept


class StrategyHistory:
    """The accepted chain of one network. `folder` None keeps it in memory only (simulator, tests)."""

    def __init__(self, network: Network, folder: Path | None = None, faults: LocalFaults | None = None) -> None:
        """`faults`: who is told when the folder refuses a version, which is then kept in memory until it obliges."""
        self._network = network
        self._folder, self._faults = folder, faults or LocalFaults(system_clock)
        self._unwritten: dict[Path, bytes] = {}
        self._chain = [(network.first, parse_document(network.first.document))]
        self._rivals: dict[int, list[str]] = {}  # version: digests that were not kept, or that once were not
        if folder is not None:
            self._load(folder)

    @property
    def network(self) -> str:
        """The network's id, hex."""
        return self._network.id

    @property
    def newest(self) -> Strategy:
        """The newest accepted version, whether it is in force yet or not: the one that packets announce."""
        return self._chain[-1][1]

    @property
    def newest_digest(self) -> str:
        """The newest version's digest, hex."""
        return self._chain[-1][0].digest

    @property
    def fork_count(self) -> int:
        """How many versions were signed besides those that are kept."""
        return sum(d != self._chain[v - 1][0].digest for v, d in self._lost() if v <= len(self._chain))

    def current(self, now: Now) -> Strategy:
        """Return the version in force: the newest that is effective. An expired one stays in force; so does the
        first."""
        for _, strategy in reversed(self._chain):
            if strategy.effective_at <= now.wall:
                return strategy
        return self._chain[0][1]

    def is_expired(self, now: Now) -> bool:
        """Tell whether the version in force has run out and no newer one waits: a reason to ask more peers for the
        next."""
        return self.newest.expires_at <= now.wall

    def history(self) -> Iterator[AdoptedStrategy]:
        """Yield every accepted version, oldest first."""
        for signed, strategy in self._chain:
            trusted = self._trusted(strategy.version)
            names = Publishers(strategy.publishers, strategy.threshold)
            changes = (set(names.keys), names.threshold) != (set(trusted.keys), trusted.threshold)
            rivals = tuple(d for d in self._rivals.get(strategy.version, ()) if d != signed.digest)
            yield AdoptedStrategy(strategy, signed.digest, signers(signed, trusted), changes, rivals)

    @property
    def began_at(self) -> int:
        """When the network began (Unix seconds): its first strategy came into force."""
        return self._chain[0][1].effective_at

    def puzzle_bits(self, now: Now) -> int:
        """Return how many bits of work identities must have behind them.

        A raised demand counts only once it has been in force for the longest grace. By then each earlier member has
        sent a heartbeat since, or is a member no longer."""
        current = self.current(now)
        before = self.current(now._replace(wall=now.wall - current.laptop_grace_s))
        return min(current.puzzle_bits, before.puzzle_bits)

    def tie_breakers(self) -> frozenset[NodeId]:
        """Return the nodes that some accepted version names to break ties: what was written by their word alone stays
        proven."""
        named = (strategy.tie_breaker for _, strategy in self._chain)
        return frozenset([NodeId(bytes.fromhex(each)) for each in named if each])

    def ties_since(self, now: Now) -> int:
        """Return the first version from which on all, up to the one in force, name the same node to break ties."""
        in_force = self.current(now)
        since = in_force.version
        while since > 1 and self._chain[since - 2][1].tie_breaker == in_force.tie_breaker:
            since -= 1
        return since

    def former_bits(self, now: Now) -> tuple[int, ...]:
        """Return the other slot_bits by which slots were counted until a day ago at most, newest first; nearly always
        none."""
        in_force = self.current(now)
        found = dict.fromkeys(before.slot_bits for before in self.former_strategies(now))
        return tuple(bits for bits in found if bits != in_force.slot_bits)

    def former_strategies(self, now: Now) -> tuple[Strategy, ...]:
        """Return the strategies that were in force until a day ago at most, newest first."""
        found: list[Strategy] = []
        for (_, before), (_, after) in reversed(list(pairwise(self._chain[: self.current(now).version]))):
            if now.wall - after.effective_at > FORMER_S:
                break
            found.append(before)
        return tuple(found)

    def coming_strategies(self, now: Now) -> tuple[Strategy, ...]:
        """Return the accepted strategies that are not in force yet, oldest first."""
        return tuple(strategy for _, strategy in self._chain[self.current(now).version :])

    def signed(self, version: int) -> SignedStrategy | None:
        """Return an accepted version as it was signed; None where there is no such version."""
        return self._chain[version - 1][0] if 0 < version <= len(self._chain) else None

    def has(self, version: int, digest: bytes) -> bool:
        """Tell whether this node keeps a version, or decided against it. `digest`: all of it or its beginning."""
        ours = self.signed(version)
        told = [ours.digest] if ours is not None else []
        return any(each.startswith(digest.hex()) for each in (*told, *self._rivals.get(version, ())))

    def chain(self, from_version: int) -> tuple[bytes, ...]:
        """Return accepted versions from one on, encoded, oldest first, as many as one answer may carry."""
        chosen: list[bytes] = []
        size = 0
        for signed, _ in self._chain[max(0, from_version - 1) :][:MAX_CHAIN]:
            encoded = encode_signed(signed)
            size += len(encoded)
            if size > MAX_CHAIN_BYTES:
                break
            chosen.append(encoded)
        return tuple(chosen)

    def adopt(self, signed: SignedStrategy) -> bool:
        """Accept a version if it belongs to the chain; return whether the chain changed; raises BadStrategy.

        A version that we have, and the losing side of a fork, change nothing."""
        version = parse_document(signed.document).version
        if not 1 <= version <= min(len(self._chain) + 1, MAX_VERSIONS):
            raise BadStrategy("version", f"is {version}, we have {len(self._chain)}", "send the versions between first")
        ours = self.signed(version)
        if ours is not None and ours.digest == signed.digest:
            return False
        strategy = self._check(signed, version)
        if ours is not None and not self._yields(ours, signed, version):
            return False
        del self._chain[version - 1 :]
        self._chain.append((signed, strategy))
        self._keep(signed, version)
        log.info("strategy adopted version=%d digest=%s effective_at=%d", version, signed.digest, strategy.effective_at)
        return True

    def warnings(self, now: Now) -> tuple[str, ...]:
        """Return what an operator should know of the strategy, one sentence each."""
        current, newest = self.current(now), self.newest
        notes = [
            f"two strategies {version} were signed; {signed.digest[:16]} is kept, {rival[:16]} is not"
            for version, rival in self._lost()
            if (signed := self.signed(version)) is not None and rival != signed.digest
        ]
        if current.expires_at <= now.wall:
            notes.append(f"strategy {current.version} expired; it stays in force until its publishers sign the next")
        elif current.expires_at - SOON_S <= now.wall and newest is current:
            notes.append(f"strategy {current.version} expires soon and no next version is known")
        elif current.next_at <= now.wall and newest is current and current.next_at > current.effective_at:
            promised = _day(current.next_at)
            notes.append(f"strategy {current.version} promised its next version for {promised}; none is known")
        if newest is not current:
            begins = _day(newest.effective_at)
            notes.append(f"strategy {newest.version} is known and becomes effective later, at {begins}")
        return (*notes, *self.not_understood(now))

    def not_understood(self, now: Now) -> Iterator[str]:
        """Say what of the newest version this program cannot follow and should be updated for, one sentence each."""
        signed, newest = self._chain[-1]
        if parts := unknown_parts(signed.document):
            names = ", ".join(ascii(name[:40])[1:-1] for name in parts[:NAMED])
            yield f"strategy {newest.version} says what this version of dse-node passes over: {names}"
        for need in newest.needs:
            if need.feature in FEATURES:
                continue
            binds_at = max(need.binds_at, newest.effective_at)
            day, lacks = _day(binds_at), f"strategy {newest.version} needs {need.feature!r}"
            if now.wall < binds_at:
                yield f"{lacks} from {day} on, which this version of dse-node lacks: upgrade before then"
            else:
                yield f"{lacks} since {day}, which this version of dse-node lacks: upgrade now"

    def _trusted(self, version: int) -> Publishers:
        """Return the publishers that must sign a version: those that the version before names."""
        if version == 1:
            return self._network.publishers
        before = self._chain[version - 2][1]
        return Publishers(before.publishers, before.threshold)

    def _check(self, signed: SignedStrategy, version: int) -> Strategy:
        return check(signed, self._network.id, self._trusted(version), self.signed(version - 1))

    def _yields(self, ours: SignedStrategy, theirs: SignedStrategy, version: int) -> bool:
        """Decide a fork at a version; the loser is remembered."""
        closed = any(
            self._trusted(later) != self._trusted(version) for later in range(version + 1, len(self._chain) + 1)
        )
        yields = theirs.digest < ours.digest and not closed
        winner, loser = (theirs, ours) if yields else (ours, theirs)
        self._lose(loser, winner, version)
        return yields

    def _lost(self) -> Iterator[tuple[int, str]]:
        """(version, digest) of every version that was not kept, by version."""
        return ((version, digest) for version in sorted(self._rivals) for digest in self._rivals[version])

    def _lose(self, loser: SignedStrategy, winner: SignedStrategy, version: int) -> None:
        """Remember a version that was signed and is not kept; how many are remembered is bounded."""
        known = sum(map(len, self._rivals.values()))
        if loser.digest in self._rivals.get(version, ()) or known >= MAX_FORKS:
            return
        log.warning("strategy fork version=%d kept=%s other=%s", version, winner.digest, loser.digest)
        self._rivals.setdefault(version, []).append(loser.digest)
        if self._folder is not None:
            self._unwritten[self._folder / f"fork-{version:06d}-{loser.digest[:16]}.json"] = encode_signed(loser)
            self.write_what_waits()

    def _keep(self, signed: SignedStrategy, version: int) -> None:
        """Write one version and remove those of a lost fork above it."""
        if self._folder is None:
            return
        self._unwritten = {path: data for path, data in self._unwritten.items() if not _is_above(path, version)}
        self._unwritten[self._folder / f"{version:06d}.json"] = encode_signed(signed)
        self.write_what_waits()

    def write_what_waits(self) -> None:
        """Write the files that the folder refused so far; call it now and then."""
        if self._folder is None or not self._unwritten:
            return
        try:
            for path in sorted(self._folder.glob("[0-9]*.json")):
                if _is_above(path, len(self._chain)):
                    path.unlink()
            for path in sorted(self._unwritten):
                write_atomically(path, self._unwritten[path])
                del self._unwritten[path]
        except OSError as error:
            self._faults.begin(FaultSite.STRATEGY, refused(self._folder, error))
        else:
            self._faults.end(FaultSite.STRATEGY)

    def _load(self, folder: Path) -> None:
        """Read the chain back, checking it as if a peer had sent it; a damaged tail is asked for again."""
        folder.mkdir(parents=True, exist_ok=True)
        version = 1 if (folder / "000001.json").exists() else 2  # the first usually lies in the network file
        while (path := folder / f"{version:06d}.json").exists():
            try:
                signed = decode_signed(path.read_bytes())
                strategy = self._check(signed, version)
            except (BadStrategy, OSError) as error:
                log.warning("strategy file ignored path=%s reason=%s; peers are asked for it again", path, error)
                break
            self._chain[version - 1 :] = [(signed, strategy)]
            version += 1
        for path in sorted(folder.glob("fork-*.json"))[:MAX_FORKS]:
            try:
                rival = decode_signed(path.read_bytes())
                self._rivals.setdefault(parse_document(rival.document).version, []).append(rival.digest)
            except (BadStrategy, OSError) as error:
                log.warning("strategy file ignored path=%s reason=%s", path, error)


def _is_above(path: Path, version: int) -> bool:
    """Whether a file holds an accepted version above this one."""
    return path.stem.isdigit() and int(path.stem) > version


def _day(at: int) -> str:
    """An instant for people: to the minute, UTC; years beyond the calendar stay numbers."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return f"second {at}"
