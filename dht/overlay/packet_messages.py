"""Small messages travel in packets first; where those bring nothing, over the channel like all others.

On a line that loses packets a TCP connection stalls for seconds, and a new one takes three round trips, each of which
may be lost. A packet is repeated after one round trip (`dht/protocol/message_questions.py`). Packets that stay
unanswered do not hold a message up: after two of them the channel is asked as well, and whichever answers first counts.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from dht.clock import Clock
from dht.errors import InputError, PeerTimeout, RemoteError
from dht.keys import NodeId
from dht.protocol.engine import ProtocolEngine
from dht.protocol.message_answers import KEPT_S, OpenMessage
from dht.protocol.message_questions import Told
from dht.supervisor import STRICT, Supervisor
from dht.transport.transport import MAX_REASON_BYTES, Answerer, PeerRefused, printable
from dht.wire.contact import Contact
from dht.wire.packets import AskedMessage, ToldMessage, Verdict

ByChannel = Callable[[float], Awaitable[bytes]]
"""Asks the same over the channel, within so many seconds."""


class PacketMessages:
    """Asks and answers the small messages of one node. `kick`: has the engine send what it has; `note_late`: is told of
    peers from which packets bring nothing."""

    def __init__(
        self,
        core: ProtocolEngine,
        clock: Clock,
        kick: Callable[[], None],
        note_late: Callable[[NodeId], None],
    ) -> None:
        self._core, self._clock, self._kick, self._note_late = core, clock, kick, note_late
        self.names: set[str] = set()  # of the messages that this node answers in packets

    async def run(self, answerer: Answerer, supervisor: Supervisor = STRICT) -> None:
        """Answer others until cancelled; raises the LocalError of a handler. `supervisor`: bears what one costs."""
        async with asyncio.TaskGroup() as tasks:

            def serve(asked: OpenMessage) -> None:
                supervisor.start_once(tasks, "packet-message", partial(self._serve, asked, answerer))

            self._core.answers.serve = serve
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self._core.answers.serve = None

    async def ask(self, peer: Contact, name: str, body: bytes, timeout_s: float, by_channel: ByChannel) -> bytes:
        """Send one message and return its answer; raises PeerTimeout, PeerGone, BadMessage or PeerRefused."""
        loop = asyncio.get_running_loop()
        ends = self._clock().steady + timeout_s
        told: asyncio.Future[Told] = loop.create_future()
        silent: asyncio.Future[None] = loop.create_future()
        now = self._clock()
        message = AskedMessage(now.wall, name, body)
        transaction = self._core.ask_in_packets(now, peer, message, told.set_result, lambda: silent.set_result(None))
        if transaction is None:
            return await by_channel(timeout_s)
        self._kick()
        try:
            await asyncio.wait((told, silent), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if silent.done() and not told.done():
                self._note_late(peer.node_id)
                return await self._race(peer, told, by_channel, ends)
        finally:
            self._core.questions.forget(transaction)
        if not told.done():
            raise PeerTimeout(peer.node_id.hex(), timeout_s)
        return await self._read(peer, told.result(), by_channel, ends)

    async def _race(self, peer: Contact, told: asyncio.Future[Told], by_channel: ByChannel, ends: float) -> bytes:
        """Ask over the channel as well; its error counts at once, since a dead peer shows there."""
        async with asyncio.TaskGroup() as tasks:
            channel = tasks.create_task(_outcome(by_channel(ends - self._clock().steady)), name="packet-channel")
            await asyncio.wait((told, channel), return_when=asyncio.FIRST_COMPLETED)
            if not channel.done():
                channel.cancel()
        if told.done():
            return await self._read(peer, told.result(), by_channel, ends)
        found = channel.result()
        if isinstance(found, RemoteError):
            raise found
        self._core.packets_unheard(self._clock(), peer.node_id)
        return found

    async def _read(self, peer: Contact, told: Told, by_channel: ByChannel, ends: float) -> bytes:
        answer = told.answer
        if answer is None or answer.verdict is Verdict.BY_TLS:
            return await by_channel(ends - self._clock().steady)
        if answer.verdict is Verdict.REFUSED:
            raise PeerRefused(peer.node_id.hex(), printable(answer.body))
        return answer.body

    async def _serve(self, asked: OpenMessage, answerer: Answerer) -> None:
        """Answer one message of a peer; what takes longer than the question is kept needs no answer."""
        try:
            async with asyncio.timeout(KEPT_S):
                told = await self._answer(asked, answerer)
        except TimeoutError:
            return
        self._core.answers.tell(asked, told)
        self._kick()

    async def _answer(self, asked: OpenMessage, answerer: Answerer) -> ToldMessage:
        message = asked.message
        if message.name not in self.names:
            return ToldMessage(Verdict.BY_TLS, b"")
        try:
            return ToldMessage(Verdict.ANSWERED, await answerer(asked.asker, message.name, message.body, asked.host))
        except (RemoteError, InputError) as error:
            return ToldMessage(Verdict.REFUSED, str(error).encode()[:MAX_REASON_BYTES])


async def _outcome(asking: Awaitable[bytes]) -> bytes | RemoteError:
    try:
        return await asking
    except RemoteError as error:
        return error
