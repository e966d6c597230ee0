from node.views.explain import explained_facts


def test_what_is_missing_or_of_another_kind_does_no_harm() -> None:
    assert explained_facts({}, 0.0) == [("fetched?", ": ")]
    facts = dict(explained_facts({"canonical": "http://a.test/", "holder": 3, "known": [], "owners": None}, 0.0))
    assert facts["holder"] == "no node holds the lease of its slot at present"
    assert facts["known"] == "no"


def test_reasons_are_told_where_they_matter() -> None:
    body = {
        "canonical": "http://a.test/",
        "answer": "no",
        "why": "rule 1",
        "changed": ["the fragment is no part of it"],
        "rule": {"allowed": False, "reason": "rule 1 of strategy 2 denies it"},
        "holder": {"node_id": "ab", "self": True, "answered": False},
        "known": {"state": "redirect", "target": "http://b.test/", "depth": 3, "visited_at": 40.0, "status": 302},
        "crawler": {"stand": "ready", "ahead": 1200, "host_rest_s": 7.0, "robots": "barred", "robots_why": "503"},
    }
    facts = dict(explained_facts(body, 100.0))
    assert facts[""] == "the fragment is no part of it"
    assert facts["rule"] == "rule 1 of strategy 2 denies it"
    assert facts["holder"] == "this node, which did not answer"
    assert facts["known"] == "redirect, visited 60 s ago, status 302, to http://b.test/"
    assert (
        facts["queue"]
        == "in its queue, waits for its host's turn, 1,200 of its host before it, its host rests 7 s more"
    )
    assert facts["robots"] == "could not be read, so nothing is fetched: 503"
