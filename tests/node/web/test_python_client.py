"""The distribution dse-node-client against a listener: typed answers, all pages, errors of one kind, no daemon."""

import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from dse_node_client import Client, NodeError

CLIENT = Path(__file__).parents[3] / "clients" / "python"
PAGE = "http://docs.python.test/3/tutorial/appetite.html"
MOST_LINES = 300


@pytest.fixture
def node(site: Any) -> Client:
    return Client(f"http://127.0.0.1:{site.port}/")


def run(*words: str) -> "subprocess.CompletedProcess[str]":
    """Run the command with the standard library and nothing else."""
    start = (
        "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module('dse_node_client', None, '__main__')"
    )
    command = [sys.executable, "-I", "-S", "-c", start, str(CLIENT), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def test_an_answer_has_the_fields_of_the_api(node: Client, site: Any) -> None:
    answer = node.search("task", limit=1, lang="en", site="python.test", sort="date", verbatim=True)
    (result,) = answer["results"]
    assert (result["url"], result["language"], result["fetched_at"]) == (PAGE, "en", 1_795_000_000.0)
    assert (answer["total"], answer["total_is"], answer["exact"]) == (1234, "exact", True)
    asked = site.service.asked[-1]
    assert (asked.limit, asked.language, asked.site, asked.is_by_date) == (1, "en", "python.test", True)


def test_results_go_on_to_the_last_page_or_to_as_many_as_wanted(node: Client, site: Any) -> None:
    every = list(node.results("task"))
    assert [asked.cursor for asked in site.service.asked] == ["", "bmV4dA"] and len(every) > 3
    asked_before = len(site.service.asked)
    assert list(node.results("task", most=2)) == every[:2]
    assert [asked.limit for asked in site.service.asked[asked_before:]] == [2]
    assert list(node.results("nothing holds this")) == []


def test_stored_pages_are_read(node: Client) -> None:
    stored = node.page(PAGE)
    assert stored and stored["url"] == PAGE and node.page("http://none.test/") is None
    texts = node.texts([PAGE, *(f"http://none.test/{number}" for number in range(30))])
    assert list(texts) == [PAGE] and texts[PAGE].startswith("If you do much work")
    assert [page["url"] for page in node.pages()]


def test_a_crawl_needs_the_token(node: Client, site: Any, token: str) -> None:
    with pytest.raises(NodeError, match="token") as refused:
        node.crawl("https://www.example.edu/")
    assert refused.value.status == 401
    owner = Client(f"http://127.0.0.1:{site.port}", token)
    assert owner.crawl("https://www.example.edu/", depth=2)["seeds"] and owner.jobs() and owner.status()["version"]


def test_the_nodes_own_words_are_the_error(node: Client) -> None:
    with pytest.raises(NodeError, match="limit: is '101'; it takes a whole number from 1 to 100") as refused:
        node.search("task", limit=101)
    assert (refused.value.status, refused.value.retry_after_s) == (400, None)


def test_a_node_that_is_not_there_is_an_error_of_the_same_kind() -> None:
    for url in ("http://127.0.0.1:9", "127.0.0.1:9", "http://[", "file:///etc/hostname", ""):
        with pytest.raises(NodeError, match=r"no node answers|is no address of a node"):
            Client(url, timeout_s=5).status()


ANSWERS = {
    b"HTTP/1.1 200 OK\r\n\r\n[]": "answers, but not as a node",
    b"HTTP/1.1 200 OK\r\n\r\n<html>": "answers, but not as a node",
    b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{": "answers, but not as a node",
    b"SSH-2.0-OpenSSH\r\n": "no node answers",
    b"HTTP/1.1 503 Busy\r\nRetry-After: soon\r\n\r\n": "status 503",
    b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\n\r\n": "status 302 http://127.0.0.1:9/",
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_is_no_node_is_an_error_of_the_same_kind_and_learns_of_no_other_place(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:

        def serve() -> None:
            connection, _ = door.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(answer)

        other = threading.Thread(target=serve)
        other.start()
        with pytest.raises(NodeError, match=ANSWERS[answer]):
            Client(f"http://127.0.0.1:{door.getsockname()[1]}", "secret", timeout_s=5).jobs()
        other.join()


def test_the_file_of_the_token_is_taken_as_it_is(site: Any, token: str) -> None:
    assert Client(f"http://127.0.0.1:{site.port}", f"{token}\n").jobs()


def test_the_command_needs_the_standard_library_alone(node: Client, site: Any) -> None:
    url = f"http://127.0.0.1:{site.port}"
    found = run("--node", url, "search", "task", "--most", "2")
    assert found.returncode == 0 and found.stdout.splitlines()[0].split()[-1] == PAGE, found.stderr
    assert len(found.stdout.splitlines()) == 2
    assert run("--node", url, "search", "nothing holds this").returncode == 1
    assert '"version"' in run("--node", url, "status").stdout
    assert run("--node", url, "page", "http://none.test/").stdout == "null\n"
    absent = run("--node", "http://127.0.0.1:9", "status")
    assert absent.returncode == 1 and "no node answers" in absent.stderr and "Traceback" not in absent.stderr


def test_the_distribution_stays_small() -> None:
    files = [file for file in CLIENT.rglob("*") if file.suffix in (".py", ".toml", ".md")]
    assert sum(len(file.read_text().splitlines()) for file in files) <= MOST_LINES
