"""The space that the files of a node take, and how much more they may."""

from dht import MachineRefuses
from store.config import StoreConfig
from store.segments.file_system import Disk
from store.segments.segments import Segments

MORE_ROOM = "raise store.quota_bytes or free some space"
INDEX_PART = 4  # of what lies beside the store a quarter as much again: pages not indexed yet, files being merged


class DiskRoom:
    """Holds one quota against all files of a node: segments, index with its log, and all that lies beside the store."""

    def __init__(self, disk: Disk, config: StoreConfig, segments: Segments) -> None:
        self._disk, self._segments, self._segment_bytes = disk, segments, config.segment_bytes
        self._beside_bytes = 0
        self.refused_count = 0  # records, or packages of them, that found no room
        self.set_quota(config.quota_bytes, config.reserve_bytes)

    @property
    def record_bytes(self) -> int:
        """Bytes that the segments take."""
        return self._segments.used_bytes

    @property
    def used_bytes(self) -> int:
        """Bytes that count against the quota."""
        return self._segments.used_bytes + self._disk.database_bytes() + self._beside_bytes

    @property
    def capacity_bytes(self) -> int:
        """The most that the files of this node can take, by the quota and by what is free on the disk, and leave what
        is kept for tidying. Raises MachineRefuses."""
        free = self.used_bytes + self._disk.free_bytes() - self._reserve_bytes
        return max(0, min(self.quota_bytes - self._kept_bytes, free))

    @property
    def _kept_bytes(self) -> int:
        return self._tidying_bytes + self._beside_bytes // INDEX_PART

    def set_quota(self, quota_bytes: int, reserve_bytes: int) -> None:
        """Take over how much this node may take, and how much free space on the disk it leaves to others; what is
        stored stays, also where it is more."""
        self.quota_bytes, self._reserve_bytes = quota_bytes, reserve_bytes
        # what no new record may take, so that compaction can always write a segment before it deletes one
        self._tidying_bytes = min(2 * self._segment_bytes, quota_bytes // 8)

    def note_beside(self, size: int) -> None:
        """Take note of how many bytes this node's other files take, as they were measured last."""
        self._beside_bytes = size

    def refusal(self, incoming_bytes: int) -> str:
        """Say why so many bytes more would be refused, "" where they would not. Raises MachineRefuses."""
        kept, used, free = self._kept_bytes, self.used_bytes, self._disk.free_bytes()
        if used + incoming_bytes > self.quota_bytes - kept:
            told = f"{_size(used)} used of a quota of {_size(self.quota_bytes)}"
            return f"{told}, of which {_size(kept)} are kept for tidying; {_size(incoming_bytes)} more do not fit"
        if free - incoming_bytes < self._reserve_bytes:
            told = f"{_size(free)} free on the disk, and {_size(self._reserve_bytes)} must stay free"
            return f"{told}; {_size(incoming_bytes)} more do not fit"
        return ""

    def check(self, incoming_bytes: int) -> None:
        """Raise MachineRefuses unless there is room for so many bytes more."""
        if reason := self.refusal(incoming_bytes):
            self.refused_count += 1
            raise MachineRefuses(self._disk.path, reason, MORE_ROOM)


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"
