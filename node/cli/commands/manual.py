"""Does the verb man: prints the manual page."""

import os
from argparse import Namespace
from datetime import UTC, date, datetime

from dht import InputError
from node.cli.arguments import build_parser
from node.cli.manual_page import manual_page
from node.version import VERSION


def man(arguments: Namespace) -> int:
    """Print the manual page of this version, for man(1); SOURCE_DATE_EPOCH may say of which day."""
    print(manual_page(build_parser(), VERSION, _day()), end="")
    return 0


def _day() -> date:
    given = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return (datetime.now(UTC) if given is None else datetime.fromtimestamp(int(given), UTC)).date()
    except (ValueError, OverflowError, OSError):
        flaw = f"SOURCE_DATE_EPOCH is {given!r}, which is no number of seconds since 1970: correct or unset it"
        raise InputError(flaw) from None
