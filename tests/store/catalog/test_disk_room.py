"""What the disk may hold."""

from store.catalog.disk_room import Quota


def test_both_limits_are_kept_and_named() -> None:
    quota = Quota(limit_bytes=10_000_000, reserve_bytes=5_000_000)
    assert quota.refusal(9_000_000, 100_000_000, 1_000_000) == ""
    assert "9.0 MB used of a quota of 10.0 MB, of which 0.0 kB are kept for tidying; 1.1 MB more" in quota.refusal(
        9_000_000, 100_000_000, 1_100_000
    )
    assert quota.refusal(0, 6_000_000, 1_000_000) == ""
    assert "6.0 MB free" in quota.refusal(0, 6_000_000, 1_100_000)


def test_room_for_tidying_is_kept_from_new_records_and_grows_with_what_lies_beside() -> None:
    quota = Quota.of(2_000_000_000, 0, 64_000_000)
    assert quota.tidying_bytes == 128_000_000 and Quota.of(80_000, 0, 64_000_000).tidying_bytes == 10_000
    assert quota.refusal(1_871_000_000, 1 << 40, 1_000_000) == ""
    assert quota.refusal(1_871_000_000, 1 << 40, 1_000_001)
    assert quota.refusal(1_771_000_000, 1 << 40, 1_000_000, beside_bytes=400_000_000) == ""
    assert quota.refusal(1_771_000_000, 1 << 40, 1_000_001, beside_bytes=400_000_000)
