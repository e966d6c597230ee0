import pytest

from crawl.addresses import refuse_address


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822", "2002:5db8:d822::1"])
def test_public_addresses_may_be_contacted(address: str) -> None:
    assert refuse_address(address) == ""


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "100.64.0.1", "::1", "fc00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1",
     "2002:7f00:1::", "::ffff:127.0.0.1"],
)  # fmt: skip
def test_private_ones_only_where_permitted(address: str) -> None:
    assert refuse_address(address)
    assert refuse_address(address, allow_private=True) == ""


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "fe80::1", "224.0.0.1", "ff02::1", "0.0.0.0", "0.1.2.3", "::", "255.255.255.255",
     "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "fe80::1%eth0", "2130706433", "name.test"],
)  # fmt: skip
def test_some_never(address: str) -> None:
    assert refuse_address(address, allow_private=True)
