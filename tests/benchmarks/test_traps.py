"""How a crawl is judged by the server's log."""

from benchmarks.traps import least_gap_s, most_open, repeats


def asked(host: str, path: str, at: float, ms: float = 100.0, status: int = 200) -> dict[str, object]:
    return {"host": host, "path": path, "t": at, "ms": ms, "status": status}


def test_gaps_open_requests_and_repeats_are_counted_by_host_and_address() -> None:
    rows = [
        asked("a", "/robots.txt", 0.0),
        asked("a", "/1", 0.5),
        asked("b", "/1", 0.55),
        asked("a", "/drip", 1.0, 5000.0),  # given up by the client at 5.9, noticed by the server at 6.0
        asked("a", "/2", 6.02),
        asked("a", "/1", 7.0, status=503),
        asked("a", "/robots.txt", 8.0),
        asked("a", "/drip", 9.0, 5000.0),
    ]
    cut = {("a", "/drip")}
    assert abs(least_gap_s(rows, cut) - 0.4) < 1e-9
    assert least_gap_s(rows) < 0.03
    assert (most_open(rows, {}), most_open(rows, {"a": "x", "b": "x"})) == (1, 2)
    assert (repeats(rows, cut), repeats(rows)) == (0, 1)
    again = [*rows, asked("a", "/1", 15.0), asked("b", "/1", 9.3, status=301)]
    assert repeats(again, cut) == 2
    assert most_open([*rows, asked("b", "/2", 0.6)], {}) == 2
