"""Writes the parts of the status about this machine: open files, the scrub of the disk, copies of slots, faults."""

import os
import resource

from dht import LocalFault
from node.api.operation import ScrubProgress
from node.api.status import Copies, Fault, OpenFiles
from store import CopyCounts, ScrubStatus


def open_files() -> OpenFiles:
    """Say how many files this process may have open at once, and has; None where the system does not say."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        is_open = len(os.listdir("/proc/self/fd"))
    except OSError:
        is_open = None
    return OpenFiles(limit=None if limit == resource.RLIM_INFINITY else limit, open=is_open)


def scrub_of(scrub: ScrubStatus) -> ScrubProgress:
    """Say how far the reading through of the disk is, and what was damaged; times are Unix seconds, 0 for never."""
    told = scrub._asdict()
    times = {name: int(told[name]) for name in ("begun_at", "ended_at", "asked_at", "read_at")}
    return ScrubProgress(**told | times | {"share": round(scrub.share, 3), "open": scrub.open})


def copies_of(copies: CopyCounts) -> Copies:
    """How many live copies this node's slots have, and what it keeps for owners that are silent."""
    return Copies(
        least=copies.least,
        mean=round(copies.mean, 2),
        slots={str(count): slots for count, slots in copies.slots_by_copies.items()},
        oldest_s=round(copies.oldest_s),
        oldest_slot=copies.oldest,
        kept=copies.kept,
        copying=copies.copying,
    )


def fault_of(fault: LocalFault) -> Fault:
    """Say what fails, why, since when and what helps."""
    return Fault(fault.site.name.lower(), fault.cause, fault.since, fault.what_stops, fault.remedy)
