"""The disks that the store must work on alike."""

from pathlib import Path

import pytest

from store import MemoryDisk
from store.segments.file_system import Disk, FolderDisk


@pytest.fixture(params=["memory", "folder"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Disk:
    return MemoryDisk() if request.param == "memory" else FolderDisk(tmp_path / "store")
