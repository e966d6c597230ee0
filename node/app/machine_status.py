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
    return ScrubProgress(
        begun_at=int(scrub.begun_at),
        share=round(scrub.share, 3),
        ended_at=int(scrub.ended_at),
        found=scrub.found,
        found_before=scrub.found_before,
        lost=scrub.lost,
        healed=scrub.healed,
        read_records=scrub.read_records,
        asked_at=int(scrub.asked_at),
        read_at=int(scrub.read_at),
        damaged=scrub.damaged,
        came_back=scrub.came_back,
        open=scrub.open,
    )


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
    return Fault(
        site=fault.site.name.lower(),
        cause=fault.cause,
        since=fault.since,
        what_stops=fault.what_stops,
        remedy=fault.remedy,
    )
