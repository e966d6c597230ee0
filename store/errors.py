"""The store's errors, by whose fault they are.

Pure: values only. `BadReplica`, `TooFewCopies`, `NotGranted` and `NoReadyOwner`: other nodes; `BadDraft` and
`NotImporter`: our caller; `StoreCorrupt`: this machine.
"""

from dataclasses import dataclass

from dht import BrokenFile, InputError, RemoteError


@dataclass(eq=False)
class BadReplica(RemoteError):
    """Bytes that should be records are none, break a bound, or are not signed by whom they say."""

    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"


@dataclass(eq=False)
class TooFewCopies(RemoteError):
    """A write did not reach enough owners in time; nothing is lost, whoever wrote tries again."""

    slot: int
    copies: int
    needed: int
    waited_s: float
    refusal: str = ""  # of an owner, the last one

    def __str__(self) -> str:
        why = f"an owner says: {self.refusal}" if self.refusal else "too few of its owners are live, write again later"
        return f"slot {self.slot}: {self.copies} of {self.needed} durable copies after {self.waited_s:.0f} s; {why}"


@dataclass(eq=False)
class NotGranted(RemoteError):
    """This node's voters did not sign that it may write to a slot, so nobody would take what it writes."""

    slot: int

    def __str__(self) -> str:
        return f"slot {self.slot}: no grant covers what is to be written; its voters are asked again within seconds"


@dataclass(eq=False)
class NoReadyOwner(RemoteError):
    """Nobody who is ready for a slot said what lies in it."""

    slot: int

    def __str__(self) -> str:
        return f"slot {self.slot}: none of its owners that are ready answered; read it again later"


@dataclass(eq=False)
class BadDraft(InputError):
    """A record that this node must not write: the record and the reason."""

    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"


@dataclass(eq=False)
class NotImporter(InputError):
    """This node may not import pages into its network: its public key and the reason."""

    key: bytes
    reason: str

    def __str__(self) -> str:
        return f"this node, whose public key is {self.key.hex()}, {self.reason}"


class StoreCorrupt(BrokenFile):
    """The store on disk is damaged beyond what a crash may leave; a node that starts anew rebuilds it."""
