"""The key space, the peers in it, who owns what, and how to talk to them. Imports none of our packages.

Nouns: `Key`, `Slot`, `Contact`, `Strategy`, `Overlay`. Read `keys.py` and `messages.py` first, then room by room. Each
room is built on those before it:
- identity: who a node is
- wire: bytes of packets, heartbeats, records
- admission: who may be a member
- membership: who is there
- routing: how a key is found
- strategy: what the publishers say
- transport: messages over TLS
- ownership: who keeps a slot
- protocol: the engine without sockets
- leases: who crawls a slot
- reachability: whether strangers get through
- overlay: all of it running; the packages above see `api.py`, and `assembly.py` builds it for a real node
"""

from typing import TYPE_CHECKING

from dht.front_door import lazily

if TYPE_CHECKING:
    from dht.amounts import counted
    from dht.audit.evidence import (
        ALIKE_BITS,
        DOMAINS_NEEDED,
        EVIDENCE_AT_POINT,
        EVIDENCE_KEPT,
        EVIDENCE_KEPT_S,
        LOOK_AGAIN_S,
        MAX_EVIDENCE_BYTES,
        NO_VOTES_S,
        UNLIKE_BITS,
        Evidence,
        Look,
        decode_piece,
        decode_pieces,
        encode_piece,
        encode_pieces,
        evidence_points,
    )
    from dht.audit.peer_audit import PeerAudit
    from dht.audit.sampling import CHALLENGE_EVERY_S, CHALLENGED_RECORDS, Topic
    from dht.clock import Clock, Now, ReadableClock, now_of, system_clock
    from dht.compiled_leaf import load_leaf
    from dht.config import DhtConfig
    from dht.errors import (
        MALFORMED,
        BadIdentity,
        BadInvitation,
        BadMessage,
        BadStrategy,
        BrokenFile,
        DseError,
        InputError,
        LocalError,
        MachineRefuses,
        PeerTimeout,
        PortMissing,
        RemoteError,
        leaves_of,
    )
    from dht.front_door import lazily
    from dht.identity.crawler_key import CrawlerKey, crawler_key_of, json_web_key, signature_fields, thumbprint
    from dht.identity.node_key import Identity, node_id_of, verify
    from dht.identity.private_file import others_may_read, write_secret
    from dht.identity.puzzle import solve_all, work_of
    from dht.identity.puzzle_solver import PuzzleFile
    from dht.keys import (
        MAX_SLOT_BITS,
        MAX_SPREAD,
        SITE_BYTES,
        DocumentId,
        Key,
        NodeId,
        Slot,
        distance,
        document_id,
        placement_key,
        site_of,
        slot_of,
        slot_range,
        slot_start,
        split_url,
    )
    from dht.language.stop_lists import stop_lists
    from dht.language.tags import codes_of, language_code
    from dht.leases.lease_balancer import BalanceReport
    from dht.local_faults import FaultSite, LocalFault, LocalFaults, keep_file, refusal_of, refused, write_atomically
    from dht.membership.failure_detector import SilentMember
    from dht.membership.working_families import WorkingFamilies
    from dht.messages import Done, Message
    from dht.overlay.api import Overlay, View
    from dht.overlay.assembly import open_overlay
    from dht.overlay.peer_cache_file import has_met_peers
    from dht.overlay.service import OverlayService
    from dht.overlay.settings import OnEvent, OverlayFiles, OverlaySettings
    from dht.ownership.own_room import OwnRoom, RoomReading, first_room, next_room
    from dht.ownership.rendezvous import Placement, SlotMove, placement_diff
    from dht.ownership.shard_policy import ShardPolicy, documents_of, spread_depth
    from dht.ownership.site_shards import FRESH_S, SURE_S, SiteShards, shards, stray_range
    from dht.protocol.engine import ProtocolEngine
    from dht.protocol.events import Event, StrategyAhead
    from dht.protocol.network_rules import StrategyRules
    from dht.protocol.requester import Datagram
    from dht.protocol.udp_driver import EngineDriver
    from dht.rate_limit import RateLimiter, remember
    from dht.reachability.dial_back import DialBack
    from dht.reachability.evidence import Mode
    from dht.resolver_names import absolute_name
    from dht.slot_set import resize_inside
    from dht.strategy.crawl_rules import CrawlRules, Pattern, RuleDecision, host_matches, parse_prefix
    from dht.strategy.diff import difference
    from dht.strategy.document import (
        BY_ADDRESS,
        Admitter,
        Gone,
        MemberRoom,
        Publishers,
        Revocation,
        Rule,
        Signature,
        SignedStrategy,
        Strategy,
        decode_signed,
        encode_document,
        encode_signed,
        parse_document,
        unknown_parts,
    )
    from dht.strategy.history import AdoptedStrategy, StrategyHistory
    from dht.strategy.network import Network, check_network, network_id
    from dht.strategy.validation import (
        MAX_LISTED,
        add_signature,
        check_bounds,
        check_publishers,
        parse_address,
        sign_strategy,
        signers,
    )
    from dht.supervisor import STRICT, Supervisor, when_told_to_stop
    from dht.transport.bounded_log import BoundedLog
    from dht.transport.doorway import WEB, Visitor
    from dht.transport.listener import Listener, library_log
    from dht.transport.request_auth import check_window
    from dht.transport.small_packets import small_packet_socket
    from dht.transport.transport import HearTime, NoConnection, Route
    from dht.wire.address_policy import AddressPolicy
    from dht.wire.contact import Address, Contact, Endpoint, Family
    from dht.wire.farewell import FEW_MEMBERS
    from dht.wire.grant import (
        CLOCKS_S,
        LATE_S,
        SignedGrant,
        counting_owners,
        decode_grant,
        encode_grant,
        grant_flaw,
        owners_needed,
        signers_needed,
    )
    from dht.wire.heartbeat import MOST_GRACE_S, Condition, Load, VerifiedHeartbeat, open_heartbeat
    from dht.wire.invitation import Invitation, open_voucher, parse_invitation, revoked_id, sign_voucher, voucher_id
else:
    __getattr__ = lazily(
        __name__,
        {
            "dht.audit.evidence": (
                "ALIKE_BITS DOMAINS_NEEDED EVIDENCE_AT_POINT EVIDENCE_KEPT EVIDENCE_KEPT_S LOOK_AGAIN_S "
                "MAX_EVIDENCE_BYTES NO_VOTES_S UNLIKE_BITS Evidence Look decode_piece decode_pieces encode_piece "
                "encode_pieces evidence_points"
            ),
            "dht.audit.peer_audit": "PeerAudit",
            "dht.audit.sampling": "CHALLENGED_RECORDS CHALLENGE_EVERY_S Topic",
            "dht.amounts": "counted",
            "dht.clock": "Clock Now ReadableClock now_of system_clock",
            "dht.compiled_leaf": "load_leaf",
            "dht.config": "DhtConfig",
            "dht.errors": (
                "MALFORMED BadIdentity BadInvitation BadMessage BadStrategy BrokenFile DseError InputError "
                "LocalError MachineRefuses PeerTimeout PortMissing RemoteError leaves_of"
            ),
            "dht.front_door": "lazily",
            "dht.identity.crawler_key": "CrawlerKey crawler_key_of json_web_key signature_fields thumbprint",
            "dht.identity.node_key": "Identity node_id_of verify",
            "dht.identity.private_file": "others_may_read write_secret",
            "dht.identity.puzzle": "solve_all work_of",
            "dht.identity.puzzle_solver": "PuzzleFile",
            "dht.keys": (
                "MAX_SLOT_BITS MAX_SPREAD SITE_BYTES DocumentId Key NodeId Slot distance document_id "
                "placement_key site_of slot_of slot_range slot_start split_url"
            ),
            "dht.language.stop_lists": "stop_lists",
            "dht.language.tags": "codes_of language_code",
            "dht.leases.lease_balancer": "BalanceReport",
            "dht.local_faults": "FaultSite LocalFault LocalFaults keep_file refusal_of refused write_atomically",
            "dht.membership.failure_detector": "SilentMember",
            "dht.membership.working_families": "WorkingFamilies",
            "dht.messages": "Done Message",
            "dht.overlay.api": "Overlay View",
            "dht.overlay.assembly": "open_overlay",
            "dht.overlay.peer_cache_file": "has_met_peers",
            "dht.overlay.service": "OverlayService",
            "dht.overlay.settings": "OnEvent OverlayFiles OverlaySettings",
            "dht.ownership.own_room": "OwnRoom RoomReading first_room next_room",
            "dht.ownership.rendezvous": "Placement SlotMove placement_diff",
            "dht.ownership.shard_policy": "ShardPolicy documents_of spread_depth",
            "dht.ownership.site_shards": "FRESH_S SURE_S SiteShards shards stray_range",
            "dht.protocol.engine": "ProtocolEngine",
            "dht.protocol.events": "Event StrategyAhead",
            "dht.protocol.network_rules": "StrategyRules",
            "dht.protocol.requester": "Datagram",
            "dht.protocol.udp_driver": "EngineDriver",
            "dht.rate_limit": "RateLimiter remember",
            "dht.resolver_names": "absolute_name",
            "dht.reachability.dial_back": "DialBack",
            "dht.reachability.evidence": "Mode",
            "dht.slot_set": "resize_inside",
            "dht.strategy.crawl_rules": "CrawlRules Pattern RuleDecision host_matches parse_prefix",
            "dht.strategy.diff": "difference",
            "dht.strategy.document": (
                "BY_ADDRESS Admitter Gone MemberRoom Publishers Revocation Rule Signature SignedStrategy "
                "Strategy decode_signed encode_document encode_signed parse_document unknown_parts"
            ),
            "dht.strategy.history": "AdoptedStrategy StrategyHistory",
            "dht.strategy.network": "Network check_network network_id",
            "dht.strategy.validation": (
                "MAX_LISTED add_signature check_bounds check_publishers parse_address sign_strategy signers"
            ),
            "dht.supervisor": "STRICT Supervisor when_told_to_stop",
            "dht.transport.bounded_log": "BoundedLog",
            "dht.transport.doorway": "WEB Visitor",
            "dht.transport.listener": "Listener library_log",
            "dht.transport.request_auth": "check_window",
            "dht.transport.small_packets": "small_packet_socket",
            "dht.transport.transport": "HearTime NoConnection Route",
            "dht.wire.address_policy": "AddressPolicy",
            "dht.wire.contact": "Address Contact Endpoint Family",
            "dht.wire.farewell": "FEW_MEMBERS",
            "dht.wire.grant": (
                "CLOCKS_S LATE_S SignedGrant counting_owners decode_grant encode_grant grant_flaw owners_needed "
                "signers_needed"
            ),
            "dht.wire.heartbeat": "MOST_GRACE_S Condition Load VerifiedHeartbeat open_heartbeat",
            "dht.wire.invitation": "Invitation open_voucher parse_invitation revoked_id sign_voucher voucher_id",
        },
    )

__all__ = [
    "ALIKE_BITS", "BY_ADDRESS", "CHALLENGED_RECORDS", "CHALLENGE_EVERY_S", "CLOCKS_S", "DOMAINS_NEEDED",
    "EVIDENCE_AT_POINT", "EVIDENCE_KEPT", "EVIDENCE_KEPT_S", "FEW_MEMBERS", "FRESH_S", "LATE_S", "LOOK_AGAIN_S",
    "MALFORMED", "MAX_EVIDENCE_BYTES", "MAX_LISTED", "MAX_SLOT_BITS", "MAX_SPREAD", "MOST_GRACE_S", "NO_VOTES_S",
    "SITE_BYTES", "STRICT", "SURE_S", "UNLIKE_BITS", "WEB", "Address", "AddressPolicy", "Admitter", "AdoptedStrategy",
    "BadIdentity", "BadInvitation", "BadMessage", "BadStrategy", "BalanceReport", "BoundedLog", "BrokenFile", "Clock",
    "Condition", "Contact", "CrawlRules", "CrawlerKey", "Datagram", "DhtConfig", "DialBack", "DocumentId", "Done",
    "DseError", "Endpoint", "EngineDriver", "Event", "Evidence", "Family", "FaultSite", "Gone", "HearTime",
    "Identity", "InputError", "Invitation", "Key", "Listener", "Load", "LocalError", "LocalFault", "LocalFaults",
    "Look", "MachineRefuses", "MemberRoom", "Message", "Mode", "Network", "NoConnection", "NodeId", "Now", "OnEvent",
    "Overlay", "OverlayFiles", "OverlayService", "OverlaySettings", "OwnRoom", "Pattern", "PeerAudit", "PeerTimeout",
    "Placement", "PortMissing", "ProtocolEngine", "Publishers", "PuzzleFile", "RateLimiter", "ReadableClock",
    "RemoteError", "Revocation", "RoomReading", "Route", "Rule", "RuleDecision", "ShardPolicy", "Signature",
    "SignedGrant", "SignedStrategy", "SilentMember", "SiteShards", "Slot", "SlotMove", "Strategy", "StrategyAhead",
    "StrategyHistory", "StrategyRules", "Supervisor", "Topic", "VerifiedHeartbeat", "View", "Visitor",
    "WorkingFamilies",
    "absolute_name", "add_signature", "check_bounds", "check_network", "check_publishers", "check_window", "codes_of",
    "counted", "counting_owners", "crawler_key_of", "decode_grant", "decode_piece", "decode_pieces", "decode_signed",
    "difference", "distance", "document_id", "documents_of", "encode_document", "encode_grant", "encode_piece",
    "encode_pieces", "encode_signed", "evidence_points", "first_room", "grant_flaw", "has_met_peers", "host_matches",
    "json_web_key", "keep_file", "language_code", "lazily", "leaves_of", "library_log", "load_leaf", "network_id",
    "next_room",
    "node_id_of", "now_of", "open_heartbeat", "open_overlay", "open_voucher", "others_may_read", "owners_needed",
    "parse_address", "parse_document", "parse_invitation", "parse_prefix", "placement_diff", "placement_key",
    "refusal_of", "refused", "remember", "resize_inside", "revoked_id", "shards", "sign_strategy", "sign_voucher",
    "signature_fields", "signers", "signers_needed", "site_of", "slot_of", "slot_range", "slot_start",
    "small_packet_socket", "solve_all", "split_url", "spread_depth", "stop_lists", "stray_range", "system_clock",
    "thumbprint", "unknown_parts", "verify", "voucher_id", "when_told_to_stop", "work_of", "write_atomically",
    "write_secret",
]  # fmt: skip
