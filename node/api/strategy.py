"""The bodies of strategy documents, their log, and the effect of a draft.

Pure: values only. PROTOCOL.md and `node/api/strategy_schema.py` describe the documents' fields.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from dht import Signature, Strategy
from node.api.body import Json, ResponseBody


class SignedDocument(Struct):
    """A strategy document with its signatures, as `strategy sign` writes it."""

    document: Strategy
    signatures: list[Signature]


class StrategyShown(Strategy, frozen=True, kw_only=True):
    """A version of the strategy, with what a node knows of it."""

    digest: Annotated[str, Meta(description="names this version as `previous` of the next, hex")]
    signed_by: Annotated[list[str], Meta(description="public keys of the publishers that signed it, hex")]
    not_understood: Annotated[list[str], Meta(description="its fields and rules that this release does not know")]
    warnings: Annotated[list[str], Meta(description="what operators should look at")]
    adopted: Annotated[bool, Meta(description="of a document that was sent: whether it was new here")] | UnsetType = (
        UNSET
    )


class StrategyVersion(ResponseBody):
    """One accepted version, with its signers. `forks`: digests of other signed versions of this number."""

    version: int
    digest: str
    signed_by: list[str]
    effective_at: float
    expires_at: float
    next_at: float
    publishers: list[str]
    threshold: int
    changes_publishers: bool
    forks: list[str]
    in_force: bool


class StrategyLog(ResponseBody):
    """All versions that are known, oldest first."""

    versions: list[StrategyVersion]
    warnings: list[str]


class Preview(ResponseBody, rename={"base": "from"}):
    """The effect of a draft: moves of copies, and changes. `base`: the version that it follows. `stay`: ids of the
    present members that it keeps; `lost`: those that it puts out, each with the reason."""

    base: Json
    to: Json
    members: int
    stay: list[str]
    lost: list[dict[str, str]]
    changes: Json
    parts: dict[str, int]
    key_space: dict[str, float]
    copies: dict[str, float]
    documents: dict[str, int]
    bytes: dict[str, int]
    hosts: Json
    notes: list[str]
