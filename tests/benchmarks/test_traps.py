"""How a crawl is judged by the server's log."""

from benchmarks.traps import kind_of, least_gap_s, most_open, repeats
from crawl import State, Visit


def asked(host: str, path: str, at: float, ms: float = 100.0, status: int = 200, size: int = 10) -> dict[str, object]:
    return {"host": host, "path": path, "t": at, "ms": ms, "status": status, "bytes": size}


def test_gaps_open_requests_and_repeats_are_counted_by_host_and_address() -> None:
    rows = [
        asked("a", "/robots.txt", 0.0),
        asked("a", "/1", 0.5),
        asked("b", "/1", 0.55),
        asked("a", "/drip", 1.0, 5000.0, size=0),  # given up by the client at 5.9, noticed by the server at 6.0
        asked("a", "/2", 6.02),
        asked("a", "/1", 7.0, status=503),
        asked("a", "/robots.txt", 8.0),
    ]
    assert abs(least_gap_s(rows) - 0.4) < 1e-9
    assert (most_open(rows, {}), most_open(rows, {"a": "x", "b": "x"})) == (1, 2)
    assert repeats(rows) == 0
    again = [*rows, asked("a", "/1", 9.0), asked("a", "/drip", 10.0, size=0), asked("b", "/1", 9.3, status=301, size=0)]
    assert repeats(again) == 2
    assert most_open([*rows, asked("b", "/2", 0.6)], {}) == 2


def test_reasons_are_counted_without_their_details() -> None:
    def refused(reason: str) -> str:
        return kind_of(Visit("http://a.test/", 1, state=State.REFUSED, reason=reason))

    assert refused("size: larger than 5 bytes") == "refused: size"
    assert refused("guard: 20 of 21 pages like it say nothing new") == "guard: pages like it say nothing new"
    assert refused("guard: soft 404, 11 other pages of the site say the same") == "guard: soft 404"
    assert refused("guard: path repeats itself") == "refused: guard: path repeats itself"
