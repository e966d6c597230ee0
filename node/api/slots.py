"""The bodies of what a node knows of the slots: their teams, holders and copies, and what lies of them here.

Pure: values only.
"""

from node.api.body import ResponseBody


class NamedMember(ResponseBody):
    """A member that has to do with a slot. `name`: by its own word, "" where it says none."""

    node_id: str
    name: str
    live: bool


class SlotEntry(ResponseBody):
    """One slot of the key space. `holder`: the member that crawls it; `copies`: live nodes that serve it, of as many as
    there are owners. `owned`, `ready`, `leased`: by this node; `documents`, `bytes`: of it on this node's disk."""

    slot: int
    owners: list[NamedMember]
    holder: NamedMember | None
    copies: int
    owned: bool
    ready: bool
    leased: bool
    documents: int
    bytes: int


class SlotTable(ResponseBody):
    """A page of slots by number. `matching`: slots that are as asked; `next`: where the next page begins, null at the
    end."""

    slots: list[SlotEntry]
    matching: int
    all: int
    next: int | None
