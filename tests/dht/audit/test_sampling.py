"""The first words of each peer are checked, then one in fifty; each topic and each peer begins by itself."""

from dht.audit.sampling import REMEMBERED, AuditSampling, Topic
from dht.keys import NodeId

A, B = NodeId(b"a" * 20), NodeId(b"b" * 20)


def test_memory_is_bounded() -> None:
    sampling = AuditSampling()
    for n in range(REMEMBERED + 1):
        sampling.count(NodeId(n.to_bytes(20, "big")), Topic.CLIENT_PAGES)
    assert sampling.is_due(NodeId(bytes(20)), Topic.CLIENT_PAGES, 0.99), "the first one is forgotten"
    assert not sampling.is_due(NodeId((1).to_bytes(20, "big")), Topic.CLIENT_PAGES, 0.99)
