"""Does the verb that shows a node at work: top, live on a terminal, once elsewhere."""

import sys
import time
from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING

from node.cli.commands.output import print_facts, print_json
from node.cli.commands.target_node import client
from node.errors import NotRunning
from node.views.safe_text import plain
from node.views.top import Course, Line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def top(arguments: Namespace) -> int:
    """Show the node until Ctrl-C where a terminal is, else print its lines once."""
    node, course = client(arguments), Course()

    def ask() -> list[Line]:
        return course.lines(node.get("/api/v1/status"), time.monotonic())

    lines = ask()
    if arguments.json:
        print_json([{"name": line.name, "text": line.text, "is_bad": line.is_bad} for line in lines])
    elif not sys.stdout.isatty():
        print_facts([(line.name, f"{line.text}  {line.plot}".rstrip()) for line in lines])
    else:
        from rich.console import Console  # which alone needs it; it heeds NO_COLOR and TERM

        watch(Console(highlight=False), lines, ask, lambda: time.sleep(arguments.every))
    return 0


def watch(console: "Console", lines: list[Line], ask: Callable[[], list[Line]], rest: Callable[[], None]) -> None:
    """Show lines in one place, new ones after each rest, until interrupted; a node that is away may come back."""
    from rich.live import Live

    with Live(_drawn(lines), console=console, auto_refresh=False) as live:
        try:
            while True:
                rest()
                try:
                    lines = ask()
                except NotRunning as away:
                    lines = [Line("state", f"It does not answer ({plain(away.reason)}); asked again", is_bad=True)]
                live.update(_drawn(lines), refresh=True)
        except KeyboardInterrupt:  # which is how one leaves
            return


def _drawn(lines: list[Line]) -> "RenderableType":
    """Draw lines as a table; their texts come from strangers too, so nothing in them is read as markup."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for line in lines:
        text = Text(plain(line.text), style="bold red" if line.is_bad else "")
        if line.plot:
            text.append(f"\n{line.plot}", style="cyan")
        table.add_row(Text(line.name, style="bold"), text)
    return table
