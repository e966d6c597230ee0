"""Values of options are read, or refused by name; some keep the order of the command line."""

import argparse
from collections.abc import Callable

import pytest

from node.cli.argument_types import Between, FilterValue, Ordered, Share, lengths


def test_what_fits_is_read() -> None:
    assert Between(1, 9)("9") == 9
    assert Share(0.5)("0.25") == 0.25
    assert (FilterValue("lang", "a language")("de-AT"), FilterValue("site", "a host")("a.test")) == ("de-AT", "a.test")
    assert lengths("8h,90s") == (28_800.0, 90.0)


@pytest.mark.parametrize(
    ("take", "text"),
    [
        *((Between(1, 9), text) for text in ("0", "10", "x", "", "1.5", "٣")),
        *((Share(0.5), text) for text in ("-0.1", "0.6", "x", "nan")),
        *((FilterValue("lang", "a language"), text) for text in ("xx", "english")),
        *((FilterValue("site", "a host"), text) for text in ("not a host", "a..b", "a.test:99999")),
        *((lengths, text) for text in ("8h", "0s,1h", "8,16", "1h,-2h")),
    ],
)
def test_what_does_not_fit_is_refused_by_name(take: Callable[[str], object], text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as refused:
        take(text)
    assert repr(text) in str(refused.value)


def test_options_of_one_list_keep_their_order() -> None:
    parser = argparse.ArgumentParser()
    for option in ("--deny", "--prefer"):
        parser.add_argument(option, action=Ordered, dest="rules")
    given = parser.parse_args(["--prefer", "a", "--deny", "b", "--prefer", "c"]).rules
    assert given == [("prefer", "a"), ("deny", "b"), ("prefer", "c")]
