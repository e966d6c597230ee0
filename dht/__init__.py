"""The key space, the peers in it, who owns what, and how to talk to them. Imports none of our packages.

Nouns: `Key`, `Slot`, `Contact`, `Strategy`, `Overlay`. Read keys, contact, strategy, overlay; then identity,
records, owners, votes, leases; then the core and its carriers (datagrams; channel, relay); last view and live,
which put it together, and opening, which builds it for a real node.
"""

from dht.clock import Clock, Now, system_clock
from dht.config import DhtConfig
from dht.errors import (
    MALFORMED,
    BadIdentity,
    BadMessage,
    BadSignature,
    BadStrategy,
    BrokenFile,
    DseError,
    InputError,
    LocalError,
    PeerTimeout,
    RemoteError,
)
from dht.identity.node_key import Identity, node_id_of, verify
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
    slot_start,
    split_url,
)
from dht.leases.lease_balancer import BalanceReport
from dht.membership.peer_cache import PeerCache
from dht.membership.table import MemberTable, News
from dht.messages import Message
from dht.overlay.api import Overlay, View
from dht.overlay.assembly import OverlaySettings, open_overlay
from dht.overlay.service import OnEvent, OverlayDependencies, OverlayService
from dht.ownership.placement_diff import SlotMove, placement_diff
from dht.ownership.rendezvous import Placement, owners
from dht.ownership.shard_policy import ShardPolicy, documents_of, spread_depth
from dht.ownership.site_shards import FRESH_S, SURE_S, ShardDepths, SiteShards, shards, stray_range
from dht.protocol.engine import ProtocolEngine
from dht.protocol.events import Event, MembersChanged, StrategyAhead
from dht.protocol.requester import Datagram
from dht.protocol.udp_driver import EngineDriver, PortUnavailable, UdpDriver, bind_udp
from dht.rate_limit import RateLimiter
from dht.reachability.dial_back import DialBack
from dht.reachability.evidence import ReachabilityEvidence, ReachabilityVerdict
from dht.reachability.node_role import Mode
from dht.signals import when_told_to_stop
from dht.slot_resize import resize_inside
from dht.slot_set import decode_slots, encode_slots
from dht.strategy.crawl_rules import CrawlRules, Pattern, RuleDecision, host_matches
from dht.strategy.diff import Difference, FieldChange, RuleChange, difference
from dht.strategy.document import (
    Publishers,
    Rule,
    SignedStrategy,
    Strategy,
    decode_signed,
    encode_document,
    encode_signed,
    parse_document,
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
)
from dht.transport.transport import Driver, PeerGone, PeerRefused, Route, Transport
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Address, Contact, Endpoint, Family
from dht.wire.heartbeat import Heartbeat, Load, VerifiedHeartbeat, open_heartbeat, sign_heartbeat
from dht.wire.value_record import ValueRecord, sign_record

__all__ = [
    "FRESH_S",
    "MALFORMED",
    "MAX_LISTED",
    "MAX_SLOT_BITS",
    "MAX_SPREAD",
    "SITE_BYTES",
    "SURE_S",
    "Address",
    "AddressPolicy",
    "AdoptedStrategy",
    "BadIdentity",
    "BadMessage",
    "BadSignature",
    "BadStrategy",
    "BalanceReport",
    "BrokenFile",
    "Clock",
    "Contact",
    "CrawlRules",
    "Datagram",
    "DhtConfig",
    "DialBack",
    "Difference",
    "DocumentId",
    "Driver",
    "DseError",
    "Endpoint",
    "EngineDriver",
    "Event",
    "Family",
    "FieldChange",
    "Heartbeat",
    "Identity",
    "InputError",
    "Key",
    "Load",
    "LocalError",
    "MemberTable",
    "MembersChanged",
    "Message",
    "Mode",
    "Network",
    "News",
    "NodeId",
    "Now",
    "OnEvent",
    "Overlay",
    "OverlayDependencies",
    "OverlayService",
    "OverlaySettings",
    "Pattern",
    "PeerCache",
    "PeerGone",
    "PeerRefused",
    "PeerTimeout",
    "Placement",
    "PortUnavailable",
    "ProtocolEngine",
    "Publishers",
    "PuzzleFile",
    "RateLimiter",
    "ReachabilityEvidence",
    "ReachabilityVerdict",
    "RemoteError",
    "Route",
    "Rule",
    "RuleChange",
    "RuleDecision",
    "ShardDepths",
    "ShardPolicy",
    "SignedStrategy",
    "SiteShards",
    "Slot",
    "SlotMove",
    "Strategy",
    "StrategyAhead",
    "StrategyHistory",
    "Transport",
    "UdpDriver",
    "ValueRecord",
    "VerifiedHeartbeat",
    "View",
    "add_signature",
    "bind_udp",
    "check_bounds",
    "check_network",
    "check_publishers",
    "decode_signed",
    "decode_slots",
    "difference",
    "distance",
    "document_id",
    "documents_of",
    "encode_document",
    "encode_signed",
    "encode_slots",
    "host_matches",
    "network_id",
    "node_id_of",
    "open_heartbeat",
    "open_overlay",
    "owners",
    "parse_address",
    "parse_document",
    "placement_diff",
    "placement_key",
    "resize_inside",
    "shards",
    "sign_heartbeat",
    "sign_record",
    "sign_strategy",
    "site_of",
    "slot_of",
    "slot_start",
    "solve_all",
    "split_url",
    "spread_depth",
    "stray_range",
    "system_clock",
    "verify",
    "when_told_to_stop",
    "work_of",
]
