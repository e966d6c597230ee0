"""How do owners come to keep the same records again?

Nouns: `Readiness`, `PeerSync`, `ReplicaRepair`. Read readiness (when an owner may serve), peer_sync (comparing and
copying), replica_repair (its loop), copies_by_need (how many copies), possession_audit (is a copy there?),
shard_mover.
"""
