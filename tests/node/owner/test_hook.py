"""An owner is told by a real command and over a real socket, within bounds, and whatever these do."""

import asyncio
import json
import logging
import os
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from email import policy
from email.parser import BytesParser
from pathlib import Path
from typing import Any

import pytest
import uvloop
from aiohttp import web
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from node.config.settings import HookConfig
from node.owner.events import OwnerEvent
from node.owner.hook import OwnerHook, _converse
from node.owner.mail import send_mail
from tests.loopback import free_port

EVENT = OwnerEvent("disk", "begins", "$(touch /tmp/x); 9.5 GB of 10 GB are used", 1_800_000_000.0, 1_800_000_000.0)
ABOUT = {"node": "c0ffee", "network": "campus"}


def script(tmp_path: Path, text: str) -> tuple[str, ...]:
    path = tmp_path / "told"
    path.write_text(text)
    return (sys.executable, "-S", str(path), "; echo no shell")


async def test_a_command_gets_the_event_as_json_and_an_environment_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SECRET", "of the node's own process")
    out = tmp_path / "out.json"
    text = f"""import json, os, sys
seen = [json.load(sys.stdin), dict(os.environ), sys.argv, os.getcwd()]
open({str(out)!r}, "w").write(json.dumps(seen))"""
    with caplog.at_level(logging.INFO):
        await OwnerHook(HookConfig(command=script(tmp_path, text)), ABOUT).tell(EVENT)
    body, environment, arguments, folder = json.loads(out.read_text())
    assert body == {**EVENT.json(), **ABOUT}
    assert environment.pop("LC_CTYPE", None) in (None, "C.UTF-8")  # Python's own
    assert set(environment) == {"PATH", "LANG", "DSE_TOPIC", "DSE_STATE", "DSE_TEXT", "DSE_NODE", "DSE_NETWORK"}
    assert environment["DSE_TEXT"] == EVENT.text and arguments[1:] == ["; echo no shell"] and folder == "/"
    assert "owner told topic=disk state=begins by=hook.command" in caplog.text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import sys; print('no route\\x1b[31m to ann'); sys.exit(3)", "exit code 3: no route"),
        ("import sys; sys.stdout.write('x' * 10_000_000); sys.exit(1)", "exit code 1: xxx"),
        ("import sys; sys.stdin.close()", ""),
    ],
)
async def test_a_command_that_fails_or_says_much_is_one_line_of_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, says: str
) -> None:
    await OwnerHook(HookConfig(command=script(tmp_path, text)), ABOUT).tell(EVENT)
    assert says in caplog.text and "\x1b" not in caplog.text
    assert len(caplog.text) < 1000 and len(caplog.records) == bool(says)


async def test_a_command_that_does_not_end_is_killed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    await OwnerHook(HookConfig(command=("/bin/sleep", "600"), timeout_s=0.2), ABOUT).tell(EVENT)
    assert "not done within 0.2 s, killed" in caplog.text


async def test_a_command_ends_with_the_node_and_so_does_what_it_started(tmp_path: Path) -> None:
    os.mkfifo(pids := tmp_path / "pids")
    command = ("/bin/sh", "-c", f"cat >/dev/null; sleep 600 & echo $$ $! > {pids}; wait")
    with pytest.raises(ExceptionGroup, match="unhandled errors"):
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(OwnerHook(HookConfig(command=command, timeout_s=300.0), ABOUT).tell(EVENT))
            started = await asyncio.to_thread(pids.read_text)  # it waits for the command, which has read its input
            raise InterruptedError("the node stops")
    await asyncio.to_thread(_wait_for_end, started.split())


async def test_a_command_that_is_not_there_is_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    await OwnerHook(HookConfig(command=("/nowhere/at/all",)), ABOUT).tell(EVENT)
    assert "by=hook.command reason=" in caplog.text and "No such file" in caplog.text


async def test_an_address_gets_the_event_by_post_and_no_token(caplog: pytest.LogCaptureFixture) -> None:
    async with server([200]) as (url, asked):
        with caplog.at_level(logging.INFO):
            await OwnerHook(HookConfig(url=url), ABOUT).tell(EVENT)
    ((headers, body),) = asked
    assert json.loads(body) == {**EVENT.json(), **ABOUT}
    assert headers["Content-Type"] == "application/json" and headers["User-Agent"].startswith("dse-node/")
    assert not {"Authorization", "Cookie"} & set(headers)
    assert "by=hook.url" in caplog.text


@pytest.mark.parametrize(
    ("statuses", "tries", "flaw"),
    [
        ([503, 429, 204], 3, ""),
        ([500, 500, 500, 200], 3, "status 500"),
        ([404, 200], 1, "status 404"),
        ([307, 200], 1, "status 307"),
    ],
)
async def test_a_post_is_tried_again_where_that_may_help_and_never_elsewhere(
    caplog: pytest.LogCaptureFixture, statuses: list[int], tries: int, flaw: str
) -> None:
    async with server(statuses) as (url, asked):
        await OwnerHook(HookConfig(url=url), ABOUT, waits_s=(0.0, 0.0)).tell(EVENT)
    assert len(asked) == tries
    assert (f"reason={flaw}" in caplog.text) if flaw else not caplog.text


async def test_an_address_that_does_not_answer_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    async with server([0]) as (url, _):
        await OwnerHook(HookConfig(url=url, timeout_s=0.2), ABOUT, waits_s=()).tell(EVENT)
    await OwnerHook(HookConfig(url=url, timeout_s=5.0), ABOUT, waits_s=()).tell(EVENT)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 2 and "no answer within 0.2 s" in lines[0]
    assert lines[1].endswith("by=hook.url reason=connection refused"), "no number of the system"


async def test_a_topic_of_ntfy_gets_the_sentence_under_a_title() -> None:
    async with server([200, 200]) as (url, asked):
        told = await OwnerHook(HookConfig(ntfy=url), ABOUT).tell(EVENT)
        await OwnerHook(HookConfig(ntfy=url), ABOUT).tell(replace(EVENT, state="over", text="磁盘"))
    (first, body), (second, text) = asked
    assert (first["Title"], first["Tags"], body.decode()) == ("dse-node: disk begins", "warning", EVENT.text)
    assert (second["Title"], second["Tags"], text.decode()) == ("dse-node: disk over", "white_check_mark", "磁盘")
    assert told == {"ntfy": ""}


class Mailbox:
    """Takes mail, from whoever knows the password where there is one."""

    def __init__(self) -> None:
        self.mails: list[Any] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.mails.append((envelope.rcpt_tos, BytesParser(policy=policy.default).parsebytes(envelope.content)))
        return "250 taken"

    def check(self, server: Any, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
        return AuthResult(success=(given.login, given.password) == (b"ann", b"s/cret"), handled=False)


@pytest.mark.parametrize(
    ("who", "flaw"),
    [("", ""), ("ann:s%2Fcret@", ""), ("ann:guess@", "127.0.0.1 says 535 5.7.8 Authentication credentials invalid")],
)
async def test_a_mail_has_the_sentence_and_names_the_node(who: str, flaw: str) -> None:
    box, port = Mailbox(), free_port("127.0.0.1")
    server = Controller(box, "127.0.0.1", port, authenticator=box.check, auth_require_tls=False)
    server.start()
    try:
        config = HookConfig(mail="ann@example.org", mail_server=f"smtp://{who}127.0.0.1:{port}")
        told = await OwnerHook(config, ABOUT).tell(EVENT)
    finally:
        server.stop()
    assert flaw in told["mail"] and bool(told["mail"]) == bool(flaw)
    for to, mail in box.mails:
        assert to == ["ann@example.org"] and mail["Subject"] == "dse-node: disk begins"
        assert EVENT.text in mail.get_content() and "c0ffee" in mail.get_content()
    assert len(box.mails) == (0 if flaw else 1)


@asynccontextmanager
async def server(statuses: list[int]) -> AsyncIterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    """A server on loopback that gives these statuses in turn, never answers 0, and leads elsewhere by 307."""
    asked, left, ended = list[tuple[dict[str, str], bytes]](), list(statuses), asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        asked.append((dict(request.headers), await request.read()))
        status = left.pop(0)
        if not status:
            await ended.wait()
        return web.Response(status=status, headers={"Location": "/elsewhere", "Set-Cookie": "a=b"}, body=b"x" * 100_000)

    app = web.Application()
    app.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await (site := web.TCPSite(runner, "127.0.0.1", 0)).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/hook?key=1", asked
    finally:
        ended.set()
        await site.stop()
        await runner.cleanup()


def _wait_for_end(pids: list[str]) -> None:
    """Wait until processes ended; one that nobody waited for yet is a zombie."""
    end_at = time.monotonic() + 30.0
    for pid in pids:
        with suppress(FileNotFoundError, ProcessLookupError):
            while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
                assert time.monotonic() < end_at, "it goes on though the node stopped"
                time.sleep(0.01)


def test_a_nodes_own_control_does_not_obey_a_hook(site: Any) -> None:
    url = f"http://127.0.0.1:{site.port}/api/v1/pause"
    asyncio.run(OwnerHook(HookConfig(url=url), ABOUT, waits_s=()).tell(EVENT))
    assert not site.service.is_paused


def test_a_command_that_has_ended_before_it_is_told_anything_does_no_harm() -> None:
    async def tell() -> bytes:
        process = await asyncio.create_subprocess_exec("/bin/echo", "done", stdin=PIPE, stdout=PIPE)
        await process.wait()
        await asyncio.sleep(0)  # the loop closes the pipe
        return await _converse(process, b"{}")

    for loop in (uvloop.new_event_loop(), asyncio.new_event_loop()):
        try:
            assert loop.run_until_complete(tell()) == b"done\n"
        finally:
            loop.close()


async def test_a_mail_server_that_does_not_encrypt_is_named_as_such() -> None:
    async def plain_server(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 plain\r\n")
        await reader.read(1)
        writer.close()

    async with await asyncio.start_server(plain_server, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        config = HookConfig(mail="ann@example.org", mail_server=f"smtps://127.0.0.1:{port}")
        flaw = await asyncio.to_thread(send_mail, config, "subject", "text")
    assert "encryption fails" in flaw and "scheme and the port" in flaw
