"""Our errors as HTTP problems: the status and the words that a caller gets."""

import pytest

from dht import BadMessage, PeerTimeout
from node.errors import NoRoom
from node.web.requests.problems import problem_of, unreadable
from store import NoReadyOwner, NotGranted, TooFewCopies


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (TooFewCopies(3, 0, 2, 0.5), 503, "Too few members of the network answer to keep this safely"),
        (NotGranted(3), 503, "The members that must agree to this write do not answer"),
        (NoReadyOwner(3), 503, "No node that keeps this part of the network answers"),
        (BadMessage("ab", "odd bytes"), 502, "A peer answered with something unusable"),
        (NoRoom("no room for new pages: 1 MB free"), 503, "no room for new pages"),
        (PeerTimeout("ab", 1.0), 504, "The network did not answer in time"),
    ],
)
def test_a_network_that_lacks_nodes_is_told_apart_from_a_peer_that_answers_nonsense(
    error: Exception, status: int, words: str
) -> None:
    problem = problem_of(error)
    assert problem is not None and problem.status == status and words in problem.detail
    assert problem.retry_after_s


@pytest.mark.parametrize(
    ("told", "detail"),
    [
        (
            "Invalid char in url query:\n\n  b'GET /x?q=secret'",
            "This request cannot be read as HTTP: Invalid char in url query. An address has %-encoded UTF-8 instead of "
            "spaces and of letters such as é: caf%C3%A9.",
        ),
        ("Received HTTPS traffic on an HTTP port", "cannot be read as HTTP: Received HTTPS traffic on an HTTP port."),
        ("Missing 'Host' header in request.", "This request cannot be read as HTTP: Missing 'Host' header in request."),
    ],
)
def test_what_is_no_http_is_named_without_what_was_sent(told: str, detail: str) -> None:
    problem = unreadable(told)
    assert problem.status == 400 and problem.detail.endswith(detail)
