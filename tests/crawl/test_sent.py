from crawl.sent import Sent

A, B, C = (f"http://a.test/{n}" for n in "abc")


def test_a_link_is_news_once_unless_deeper() -> None:
    sent = Sent(10)
    assert sent.is_news(A, 0)
    sent.add(A, 1)
    assert not sent.is_news(A, 1)
    assert not sent.is_news(A, 0)
    assert sent.is_news(A, 2)


def test_the_longest_unseen_is_forgotten() -> None:
    sent = Sent(2)
    sent.add(A, 1)
    sent.add(B, 1)
    assert not sent.is_news(A, 1)
    sent.add(C, 1)
    assert sent.is_news(B, 1)
    assert not sent.is_news(A, 1)
