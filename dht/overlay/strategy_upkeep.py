"""Keeps this node's strategy the newest that peers have, and puts what it says into effect."""

from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from random import Random

from dht.clock import Clock
from dht.identity.puzzle_solver import PuzzleFile, PuzzleSolver
from dht.keys import NodeId
from dht.overlay.announcer import Announcer
from dht.overlay.messenger import Messenger
from dht.overlay.point_records import PointRecords
from dht.overlay.strategy_dissemination import StrategyDissemination
from dht.overlay.strategy_sync import StrategySync
from dht.ownership.view import OverlayView
from dht.protocol.engine import ProtocolEngine
from dht.strategy.document import SignedStrategy, Strategy
from dht.strategy.history import StrategyHistory
from dht.wire.address_policy import AddressPolicy
from dht.wire.heartbeat import Graces


class StrategyUpkeep:
    """Everything of a running node that follows its strategies. `kick`: has the engine send what it has."""

    def __init__(
        self,
        strategies: StrategyHistory,
        core: ProtocolEngine,
        view: OverlayView,
        announcer: Announcer,
        messenger: Messenger,
        records: PointRecords,
        clock: Clock,
        executor: Executor,
        puzzle: Path | None,
        allow_private: bool,
        kick: Callable[[], None],
    ) -> None:
        """`puzzle`: file of the identity's solved puzzle; None: it is solved at each start."""
        self._strategies, self._core, self._view, self._announcer = strategies, core, view, announcer
        self._clock, self._allow_private, self._kick = clock, allow_private, kick
        self.sync = StrategySync(strategies, messenger, self.apply)
        rng = Random(core.node_id)  # whom it compares strategies with needs to be no secret
        self.dissemination = StrategyDissemination(
            strategies, self.sync, messenger, records, lambda: sorted(view.live() - {core.node_id}), clock, rng
        )
        self.solver = PuzzleSolver(core.own.public_key, PuzzleFile(puzzle), executor, self._solved)
        self._in_force = self._read()

    def adopt(self, signed: SignedStrategy) -> Strategy:
        """Adopt a strategy that a publisher hands to this node; return the newest; raises BadStrategy."""
        if self._strategies.adopt(signed):
            self.apply()
        return self._strategies.newest

    def follow_clock(self) -> None:
        """Put into effect what came into force by the passing of time; call it about once a second."""
        if self._in_force != self._read():
            self.apply()

    def apply(self) -> None:
        """Put the newest version into packets, and the one in force into effect."""
        self._in_force = self._read()
        newest, (current, bits) = self._strategies.newest, self._in_force
        policy = AddressPolicy(current.declared_prefixes, self._allow_private)
        digest = bytes.fromhex(self._strategies.newest_digest)
        blocked = frozenset(NodeId(bytes.fromhex(peer)) for peer in current.blocked)
        graces = Graces(current.stable_grace_s, current.laptop_grace_s)
        self._core.set_strategy(newest.version, digest, current.slot_bits, policy, blocked, graces, bits)
        self.solver.want(max(newest.puzzle_bits, current.puzzle_bits))
        self._view.refresh()
        self._announcer.announce()

    def _read(self) -> tuple[Strategy, int]:
        """Read what depends on the clock: the strategy in force, and the work that identities must have behind them."""
        now = self._clock()
        return self._strategies.current(now), self._strategies.puzzle_bits(now)

    def _solved(self, nonce: int) -> None:
        self._core.own.prove(nonce)
        self._kick()
