"""Links that log in once, and sessions: how long, how many, and never twice."""

from itertools import count

from node.web.owner.logins import LINK_S, MAX_LINKS, MAX_SESSIONS, SESSION_S, Logins


def logins() -> Logins:
    numbers = count()
    return Logins(lambda: f"code-{next(numbers)}")


def test_a_link_counts_once_and_not_for_ever() -> None:
    made = logins()
    link = made.new_link(0.0)
    assert made.log_in("", 1.0) == made.log_in("code-9", 1.0) == made.log_in("ü\ud800", 1.0) == ""
    session = made.log_in(link, LINK_S)
    assert session and session != link
    assert made.log_in(link, LINK_S) == "", "it was used"
    assert made.log_in(made.new_link(0.0), LINK_S + 1) == "", "it is too old"
    assert not made.is_owner(link, 1.0) and made.log_in(session, 1.0) == "", "one is not the other"


def test_a_session_goes_on_while_it_is_used() -> None:
    made = logins()
    session = made.log_in(made.new_link(0.0), 0.0)
    assert made.is_owner(session, SESSION_S) and made.is_owner(session, 2 * SESSION_S)
    assert not made.is_owner(session, 3 * SESSION_S + 1) and not made.is_owner(session, 0.0)
    other = made.log_in(made.new_link(0.0), 0.0)
    made.log_out(other)
    made.log_out("code-99")
    assert not made.is_owner(other, 0.0) and not made.is_owner("", 0.0)


def test_the_oldest_make_room() -> None:
    made = logins()
    links = [made.new_link(0.0) for _ in range(MAX_LINKS + 1)]
    assert made.log_in(links[0], 0.0) == "" and made.log_in(links[1], 0.0)
    sessions = [made.log_in(made.new_link(0.0), 0.0) for _ in range(MAX_SESSIONS)]
    assert all(made.is_owner(session, 0.0) for session in sessions)
    made.log_in(made.new_link(0.0), 0.0)
    assert sum(made.is_owner(session, 0.0) for session in sessions) == MAX_SESSIONS - 1
