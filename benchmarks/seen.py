"""Measures the memory of URLs handed over: bytes on disk, memory and look-ups a second, filled with 10⁸ URLs (10⁶ in
--quick).

URLs are added in batches of 1,000, as pages bring them; then batches of 1,000 are looked up, half of them known. Every
answer is checked. Seconds are of CPU. The peer is a Python set of hashes, at 10⁶, by what it takes in memory.

`python -m benchmarks.seen [--quick] [--json] [--count N] [--folder DIR]`
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from random import Random

from benchmarks.figures import Row, parser_for, row, show
from crawl.frontier.url_seen import IN_MEMORY, UrlSeenTest

BATCH = 1_000
LOOK_UPS = 200_000
IN_FILES = 16  # 10⁶ URLs would all stay in memory: all but a 16th of them lie in files, as of 10⁸


def url(number: int) -> str:
    """Make up a URL."""
    return f"https://www.site{number % 9973}.example/section/{number}.html"


def resident_mb(peak: bool = False) -> float:
    """Return this process's resident memory by the kernel: at most so far, or now."""
    field = "VmHWM" if peak else "VmRSS"
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


def measure(count: int, folder: Path) -> list[Row]:
    """Fill the memory with so many URLs, ask it and return the rows."""
    rng, before_mb = Random(1), resident_mb()
    with closing(UrlSeenTest(folder, rng.randbytes(16), in_memory=min(IN_MEMORY, count // IN_FILES))) as seen:
        began = time.process_time()
        for start in range(0, count, BATCH):
            seen.add([(url(n), 3) for n in range(start, start + BATCH)])
        adds = count / (time.process_time() - began)
        size = sum(file.stat().st_size for file in folder.iterdir())
        looked_s, wrong = 0.0, 0
        for _ in range(LOOK_UPS // BATCH):
            asked = [rng.randrange(2 * count) for _ in range(BATCH)]
            batch = [(url(n), 3) for n in asked]
            began = time.process_time()
            answers = seen.are_new(batch)
            looked_s += time.process_time() - began
            wrong += sum(is_news != (n >= count) for is_news, n in zip(answers, asked, strict=True))
    about = f"{count:,} URLs"
    peak_mb = resident_mb(peak=True)
    as_set = sys.getsizeof(set(range(1_000_000))) / 1_000_000 + sys.getsizeof(2**63)
    return [
        row(f"bytes of a URL on disk, {about}", [size / count], "bytes", goal=10, peer=[as_set]),
        row(f"memory that it adds, at most, {about}", [peak_mb - before_mb], "MB", goal=100),
        row(f"memory of the whole program, at most, {about}", [peak_mb], "MB"),
        row(f"look-ups in batches of {BATCH:,}, {about}", [LOOK_UPS / looked_s], "1/s", goal=100_000, at_least=True),
        row(f"wrong answers of {LOOK_UPS:,}, {about}", [wrong], "answers", goal=0),
        row(f"additions, {about}", [adds], "1/s"),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for(__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, help="so many URLs, instead of 10⁸ or 10⁶")
    parser.add_argument("--folder", type=Path, help="where the files go; else the system's folder for such")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        rows = measure(options.count or (10**6 if options.quick else 10**8), Path(folder))
    show("seen", rows, ["numpy"], as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
