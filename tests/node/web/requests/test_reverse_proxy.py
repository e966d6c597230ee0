"""nginx and Caddy, set up as docs/campus.md says, each in a network of its own: callers count, not what they write.

They see no figures of the node.
"""

import http.client
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.lab.namespace import NetworkNamespace, why_no_namespaces

pytestmark = pytest.mark.prove

DOCS = Path(__file__).parents[4] / "docs" / "campus.md"
NAME, PORT = "search.example.edu", 8080
PROXY, ANN, BEN, CEM, DAN = (f"203.0.113.{n}" for n in range(1, 6))  # RFC 5737
PRIVATE = {"/owner": BEN, "/metrics": DAN, "/status": BEN, "/api/v1/status": CEM, "/api/v1/peers": CEM}
PER_S, BURST = 0.01, 3
READY_S = 10.0


def shown(beginning: str) -> str:
    """The block of the page that begins so, without its indent."""
    block = re.search(rf"^    {re.escape(beginning)} \{{\n(?:    .*\n)*?    \}}\n", DOCS.read_text(), re.M)
    assert block, f"{DOCS.name} shows no {beginning!r}"
    return re.sub(r"^    ", "", block[0], flags=re.M)


def nginx(program: str, folder: Path, upstream: int) -> list[str]:
    location = shown("location /").replace("127.0.0.1:8090", f"127.0.0.1:{upstream}")
    paths = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    server = f"server {{ listen {PROXY}:{PORT}; server_name {NAME};\n{location}}}"
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log stderr;\nevents {{}}\n"
        f"http {{ access_log off;\n{paths}{server}\n}}\n"
    )
    return [program, "-p", str(folder), "-c", str(config), "-e", "stderr"]


def caddy(program: str, folder: Path, upstream: int) -> list[str]:
    site = shown(NAME).replace(NAME, f"http://{NAME}:{PORT}").replace("127.0.0.1:8090", f"127.0.0.1:{upstream}")
    (folder / "Caddyfile").write_text(f"{{\n    admin off\n    auto_https off\n}}\n{site}")
    return [program, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


@contextmanager
def running(command: list[str], folder: Path, is_ready: Callable[[], bool]) -> Iterator[None]:
    environment = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    with (folder / "log").open("w") as log, subprocess.Popen(command, env=environment, stdout=log, stderr=log) as proxy:
        try:
            for _ in range(int(READY_S / 0.1)):
                if is_ready():
                    break
                with pytest.raises(subprocess.TimeoutExpired):  # it ended: its log says why
                    proxy.wait(0.1)
            else:
                pytest.fail((folder / "log").read_text())
            yield
        finally:
            proxy.kill()


def ask(caller: str, path: str, **headers: str) -> int:
    connection = http.client.HTTPConnection(PROXY, PORT, timeout=10, source_address=(caller, 0))
    try:
        connection.request("GET", path, headers={"Host": NAME, **headers})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def is_up() -> bool:
    try:
        return ask(PROXY, "/style.css") == 200
    except OSError:
        return False


@pytest.mark.parametrize("setting", [nginx, caddy])
def test_behind_a_proxy_each_caller_counts_by_itself_and_none_passes_for_another(
    start: Any, tmp_path: Path, setting: Callable[[str, Path, int], list[str]]
) -> None:
    if why_not := why_no_namespaces():
        pytest.skip(why_not)
    name = setting.__name__
    program = os.environ.get(f"DSE_{name.upper()}") or shutil.which(name)
    if not program:
        pytest.skip(f"{name} is not installed, and DSE_{name.upper()} names none")
    network = NetworkNamespace()
    network.ip(*(f"addr add {address}/32 dev lo" for address in (PROXY, ANN, BEN, CEM, DAN)))
    with network.entered():
        site = start(
            web_names=(NAME,), web_trusted_proxies=("127.0.0.1", "::1"), web_caller_per_s=PER_S, web_caller_burst=BURST
        )
        with running(setting(program, tmp_path, site.port), tmp_path, is_up):
            began_at = time.monotonic()
            assert [ask(ANN, "/search?q=task") for _ in range(BURST)] == [200] * BURST
            forged = (BEN, "127.0.0.1", "::1", "198.51.100.7, 127.0.0.1")
            headers = [{name: text} for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP") for text in forged]
            answers = [ask(ANN, "/search?q=task", **header) for header in headers]
            assert set(answers) <= {200, 429} and answers.count(200) <= (time.monotonic() - began_at) * PER_S, answers
            assert ask(BEN, "/search?q=task") == 200
            for path, stranger in PRIVATE.items():
                assert ask(stranger, path, **{"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "localhost"}) == 401
