"""The table of links: what pages say becomes a graph, and what strangers say is bounded."""

from typing import Any

import numpy as np

from node.captures.capture import Capture
from node.extras.web_report.link_table import MAX_LANGUAGES, OTHER, FoundNames, LinkTable, name_of_url

A, B, C, D = (f"http://{name}.test/" for name in "abcd")


def page(url: str, *links: str, **fields: Any) -> Capture:
    return Capture(url, 0.0, 200, (), b"", b"", links=links, **fields)


def _edges(table: LinkTable) -> set[tuple[int, int]]:
    graph = table.table().graph
    names = graph.names.tolist()
    return {(names[a], names[b]) for a, b in zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)}


def test_a_link_counts_once_and_none_to_the_page_itself() -> None:
    table = LinkTable()
    table.add(page(A, B, B, A, C))
    table.add(page(B, A))
    wanted = [(A, B), (A, C), (B, A)]
    assert _edges(table) == {(name_of_url(a), name_of_url(b)) for a, b in wanted}


def test_pages_come_before_what_is_only_linked_to_and_one_that_comes_again_changes_nothing() -> None:
    table = LinkTable()
    for links in ((B, C), (D,)):
        table.add(page(A, *links, text="é" * 10, language="fr"))
    table.add(page(B, f"{A}sub", "javascript:alert(1)", text="x", language="en"))
    made = table.table()
    graph = made.graph
    assert (graph.pages, graph.nodes, len(graph.targets)) == (2, 4, 3)
    assert set(graph.names[:2].tolist()) == {name_of_url(A), name_of_url(B)}
    assert made.languages == {"fr": 1, "en": 1}
    assert sorted(made.text_bytes.tolist()) == [1, 20]
    sites = dict(zip(graph.names.tolist(), graph.sites.tolist(), strict=True))
    assert sites[name_of_url(A)] == sites[name_of_url(f"{A}sub")] != sites[name_of_url(B)]


def test_links_beyond_the_bound_are_counted_and_left_out() -> None:
    table = LinkTable(max_links=3)
    table.add(page(A, B, C))
    table.add(page(B, A, C, D))
    made = table.table()
    assert (len(made.graph.targets), made.cut_links) == (3, 2)


def test_strangers_choose_no_more_than_so_many_languages_and_any_text_is_a_url() -> None:
    table = LinkTable()
    for n in range(2 * MAX_LANGUAGES):
        table.add(page(f"{A}{n}", language=f"x{n}"))
    table.add(page("http://[/", "https://", "http://\udc80/", "ftp://a.test/"))
    made = table.table()
    assert len(made.languages) == MAX_LANGUAGES + 1 and made.languages[OTHER] == MAX_LANGUAGES + 1
    assert len(made.graph.targets) == 2


def test_sites_of_one_registrable_domain_have_one_number() -> None:
    table = LinkTable()
    for url in (A, "http://www.a.test/", "http://other.example.co.uk/"):
        table.add(page(url, "http://example.co.uk/", "http://x.a.test:81/", "http://[::1]/"))
    made = table.table()
    domains = dict(zip(made.graph.site_names.tolist(), made.domains.tolist(), strict=True))
    number = {site: domains[name_of_url(site)] for site in ("a.test", "www.a.test", "x.a.test:81", "[::1]")}
    british = {domains[name_of_url(site)] for site in ("example.co.uk", "other.example.co.uk")}
    assert number["a.test"] == number["www.a.test"] == number["x.a.test:81"] != number["[::1]"]
    assert len(british) == 1 and {*made.domains.tolist()} == {0, 1, 2}


def test_no_page_is_an_empty_graph() -> None:
    graph = LinkTable().table().graph
    assert (graph.pages, graph.nodes, len(graph.targets), len(graph.site_names)) == (0, 0, 0, 0)


def test_names_are_found_again() -> None:
    pages = [page(A, B, C), page(B, D)]
    wanted = FoundNames({name_of_url(url): "" for url in (A, D)}, {name_of_url("c.test"): "", 7: ""})
    found = wanted.look_in(pages)
    assert found.urls == {name_of_url(A): A, name_of_url(D): D}
    assert found.sites == {name_of_url("c.test"): "c.test", 7: ""}


def test_many_links_make_the_same_graph_as_one_after_the_other() -> None:
    rng = np.random.default_rng(1)
    wanted, table = set[tuple[int, int]](), LinkTable()
    urls = [f"http://{n % 7}.test/{n}" for n in range(300)]
    for source in rng.permutation(200).tolist():
        targets = rng.integers(0, 300, 20).tolist()
        table.add(page(urls[source], *(urls[n] for n in targets)))
        wanted |= {(name_of_url(urls[source]), name_of_url(urls[n])) for n in targets if n != source}
    assert _edges(table) == wanted
