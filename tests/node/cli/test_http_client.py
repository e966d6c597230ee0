"""A command reports when the node is away, is something else, or refuses."""

import socket
import threading

import pytest

from node.cli.http_client import HttpClient, base_url
from node.config.settings import NodeConfig
from node.errors import NotRunning, RefusedByNode


def test_nobody_there_is_one_line_with_the_remedy() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(NotRunning) as caught:
            HttpClient(f"http://127.0.0.1:{port}").get("/api/v1/status")
    assert "connection refused" in str(caught.value)
    assert "dse-node run" in str(caught.value)


@pytest.mark.parametrize("reply", [b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", b""])
def test_something_else_there_is_told_from_a_node(reply: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(reply)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        with pytest.raises(NotRunning):
            HttpClient(f"http://127.0.0.1:{listener.getsockname()[1]}").get("/api/v1/status")
        thread.join(5)


def test_a_refusal_carries_status_and_position(site) -> None:  # type: ignore[no-untyped-def]
    client = HttpClient(f"http://127.0.0.1:{site.port}")
    assert client.get("/api/v1/status")["members"] == 5
    with pytest.raises(RefusedByNode) as caught:
        client.get("/api/v1/search", {"q": '"open'})
    assert (caught.value.status, caught.value.position) == (400, 0)
    with pytest.raises(RefusedByNode, match="token"):
        client.post("/api/v1/pause", {"paused": True})


def test_a_listener_on_all_addresses_is_asked_on_loopback() -> None:
    assert base_url(NodeConfig(web_address="0.0.0.0", web_port=80)) == "http://127.0.0.1:80"
    assert base_url(NodeConfig(web_address="::")) == "http://[::1]:8090"
