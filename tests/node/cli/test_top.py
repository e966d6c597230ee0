"""`dse-node top`: lines once where no terminal is; on a terminal in one place, until one leaves."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from node.cli.commands.top import watch
from node.cli.main import main
from node.errors import NotRunning
from node.views.top import Line


def test_without_a_terminal_it_prints_plain_lines_once(site: Any, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"http://127.0.0.1:{site.port}"
    assert main(["top", "--url", url]) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said and [line.split()[0] for line in said.splitlines()][:5] == [
        "state", "crawl", "queries", "peers", "disk",
    ]  # fmt: skip
    assert main(["top", "--url", url, "--json"]) == 0
    assert {"name", "text", "is_bad"} == set(json.loads(capsys.readouterr().out)[0])
    assert main(["top", "--url", "http://127.0.0.1:1"]) == 1


@pytest.mark.parametrize("no_color", ["", "1"])
def test_on_a_terminal_it_goes_on_until_interrupted(no_color: str, monkeypatch: pytest.MonkeyPatch) -> None:
    console = pytest.importorskip("rich.console")
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm")
    answers: Iterator[Any] = iter([NotRunning("http://here", "refused"), [Line("state", "[red]well[/red]", "▁█")]])

    def ask() -> list[Line]:
        if isinstance(answer := next(answers), NotRunning):
            raise answer
        return list(answer)

    rests = iter([None, None])

    def rest() -> None:
        if next(rests, "over") == "over":
            raise KeyboardInterrupt

    screen = io.StringIO()
    terminal = console.Console(file=screen, force_terminal=True, width=80, highlight=False)
    watch(terminal, [Line("state", "bad", is_bad=True)], ask, rest)
    said = screen.getvalue()
    assert "It does not answer (refused)" in said and "[red]well[/red]" in said and "▁█" in said
    assert ("\x1b[36m" in said) is not bool(no_color)
    assert said.endswith("\x1b[?25h"), "the cursor is back"
