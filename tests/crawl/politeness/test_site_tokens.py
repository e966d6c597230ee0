"""Whoever asks when: one token at a time, and rest between them."""

import random
from itertools import pairwise

from crawl.politeness.site_tokens import GUARD_S, MAX_SITES, POLL_S, TOKEN_S, TokenIssuer


def test_requests_of_many_crawlers_never_overlap_and_rest_between() -> None:
    rng, issuer, now = random.Random(3), TokenIssuer(), 100.0
    crawlers = [bytes([n]) for n in range(1, 5)]
    ask_at, busy, requests = dict.fromkeys(crawlers, now), dict[bytes, float](), list[tuple[float, float, float]]()
    while len(requests) < 200:
        now += 0.1
        for peer in crawlers:
            if peer in busy and busy[peer] <= now:
                rest_s = rng.choice([1.0, 2.5, 10.0])
                requests[-1] = (requests[-1][0], now, rest_s)
                issuer.release(now, "big", peer, rest_s)
                del busy[peer]
                ask_at[peer] = now + rest_s
            elif peer not in busy and ask_at[peer] <= now:
                wait_s = issuer.acquire(now, "big", 7, peer)
                assert wait_s >= 0.0
                if wait_s:
                    ask_at[peer] = now + wait_s
                else:
                    assert not busy, "somebody has the token"
                    busy[peer] = now + rng.uniform(0.1, 3.0)
                    requests.append((now, 0.0, 0.0))
    assert requests[0][0] >= 100.0 + GUARD_S
    for (_, ended, rest_s), (began, _, _) in pairwise(requests):
        assert began >= ended + rest_s - 1e-6


def test_a_lost_token_runs_out_and_a_new_lease_begins_a_new_token() -> None:
    issuer = TokenIssuer()
    assert issuer.acquire(0.0, "big", 1, b"a") == GUARD_S
    assert issuer.acquire(GUARD_S, "big", 1, b"a") == 0.0
    assert issuer.acquire(GUARD_S + 1, "big", 1, b"b") == POLL_S
    issuer.release(GUARD_S + 2, "big", b"b", 0.0)  # not its token
    assert issuer.acquire(GUARD_S + 2, "big", 1, b"b") == POLL_S
    assert issuer.acquire(GUARD_S + TOKEN_S, "big", 1, b"b") == 0.0
    assert issuer.acquire(GUARD_S + TOKEN_S, "big", 2, b"a") == GUARD_S


def test_strangers_sites_do_not_fill_the_memory() -> None:
    issuer = TokenIssuer()
    for n in range(MAX_SITES + 100):
        issuer.acquire(0.0, f"site{n}", 1, b"a")
    assert len(issuer._tokens) == MAX_SITES
