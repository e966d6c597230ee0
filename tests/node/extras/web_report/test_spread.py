"""How pages are spread over groups, by figures that were worked out by hand."""

import numpy as np
import pytest

from node.extras.web_report.spread import Spread, SpreadGroup, network_of, spread_of, top_level_of


def test_mean_variance_and_variation_are_those_by_hand() -> None:
    """Groups of 9 (6 + 3), 3 and 0 pages; a site in no group counts nowhere. Mean (9 + 3) / 2 = 6, variance
    ((9 - 6)² + (3 - 6)²) / 2 = 9, coefficient 3 / 6."""
    spread = spread_of(np.array([0, 0, 1, 2, -1]), np.array([6, 3, 3, 0, 50]), ("org", "net", "com"))
    assert spread == Spread(2, 6.0, 9.0, 0.5, (SpreadGroup("org", 9, 2), SpreadGroup("net", 3, 1)))


def test_nothing_is_spread_over_no_group() -> None:
    assert spread_of(np.array([-1, 0]), np.array([5, 0]), ("org",)) == Spread(0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("host", "network"),
    [("192.0.2.7", "192.0.0.0/16"), ("2001:db8:1::1", "2001:db8::/32"), ("[2001:db8:1::1]", "2001:db8::/32")],
)
def test_a_host_that_is_an_address_has_a_network(host: str, network: str) -> None:
    assert network_of(host) == network


def test_a_host_that_is_a_name_has_a_top_level_domain_and_no_network() -> None:
    assert (network_of("www.example.org"), top_level_of("www.example.org")) == ("", "org")
