"""What the disk may hold."""

from store.disk.quota import Quota


def test_both_limits_are_kept_and_named() -> None:
    quota = Quota(limit_bytes=10_000_000, reserve_bytes=5_000_000)
    assert quota.refusal(9_000_000, 100_000_000, 1_000_000) == ""
    assert "9.0 MB used of a quota of 10.0 MB, 1.1 MB more" in quota.refusal(9_000_000, 100_000_000, 1_100_000)
    assert quota.refusal(0, 6_000_000, 1_000_000) == ""
    assert "6.0 MB free" in quota.refusal(0, 6_000_000, 1_100_000)
