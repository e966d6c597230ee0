"""Floods one node from one process: `python -m benchmarks.trust.flooder PORT KEY NETWORK RATE SECONDS`.

It makes all datagrams before: each FIND under a key of its own, with a right MAC, claiming a strategy that nobody has.
It says "ready" when it has them, waits for a line, sends at an even pace from many addresses of loopback, and says how
many went out. `KEY`: the node's public key, `NETWORK`: the first bytes of the network's id, both as hex digits.
"""

import socket
import sys
import time
from collections.abc import Sequence

from dht import Identity
from dht.wire.packets import PACKET_LIMIT, Find, PacketHeader, encode_packet

ADDRESSES = 100  # senders: each stays far below what a node takes from one address
TICK_S = 0.002  # between two handfuls
NEWEST = 1 << 30  # a strategy's version
RIGHT_SEEDS = 1 << 200  # identities from here on are the flooder's


def main(arguments: Sequence[str]) -> int:
    """Make the datagrams, wait for the word, send them."""
    port, rate, seconds = int(arguments[0]), int(arguments[3]), float(arguments[4])
    flood = made(bytes.fromhex(arguments[1]), bytes.fromhex(arguments[2]), int(rate * seconds))
    print("ready", flush=True)
    sys.stdin.readline()
    print(send(flood, port, rate), flush=True)
    return 0


def made(key: bytes, network: bytes, count: int) -> list[bytes]:
    """Return so many datagrams for the node that has a key, each of an identity of its own."""
    found = []
    for n in range(count):
        stranger = Identity((RIGHT_SEEDS + n).to_bytes(32, "big"))
        header = PacketHeader(network, stranger.public_key, NEWEST, n.to_bytes(8, "big"))
        shared = stranger.shared_key(key)
        found.append(encode_packet(header, n.to_bytes(8, "big"), Find(bytes(20)), shared, size=PACKET_LIMIT))
    return found


def send(flood: Sequence[bytes], port: int, rate: int) -> float:
    """Send at a rate; return how many datagrams a second went out."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(ADDRESSES)]
    for n, each in enumerate(sockets):
        each.bind((f"127.66.{n}.1", 0))
        each.setblocking(True)
    began, sent = time.monotonic(), 0
    while sent < len(flood):
        due = min(len(flood), int((time.monotonic() - began) * rate))
        for n in range(sent, due):
            sockets[n % ADDRESSES].sendto(flood[n], ("127.0.0.1", port))
        sent = max(sent, due)
        time.sleep(TICK_S)
    taken_s = time.monotonic() - began
    for each in sockets:
        each.close()
    return sent / taken_s


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
