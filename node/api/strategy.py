"""The bodies of strategy documents, their log, and the effect of a draft.

Pure: values only. The documents themselves are described in PROTOCOL.md; here they are open.
"""

from node.api.body import Json, ResponseBody


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
