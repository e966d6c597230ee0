"""Says at which addresses hosts may be contacted, by the strategy's rules `only` and `never`.

Pure: the strategy in force and an address in, what to raise out. All rules for a host must allow an address, whichever
rule decides the host's URLs: a rule that is put before another one never takes "never" back.
"""

from collections.abc import Callable
from typing import NamedTuple

from crawl import AddressDenied, AddressPrefixes, prefix_words
from dht import BY_ADDRESS, Rule, Strategy, host_matches

REMEMBERED_HOSTS = 4096  # whose rules are kept: 0.3 kB each
DENIED = "address: rule "  # begins the reason of a URL that such a rule denies


class AddressRule(NamedTuple):
    """One rule by address, with its number, which counts from 1."""

    number: int
    rule: Rule
    prefixes: AddressPrefixes

    @property
    def words(self) -> str:
        """The rule as a phrase: never from 192.0.2.0/24."""
        return f"{self.rule.action} from {prefix_words(self.rule.prefixes or ())}"

    def allows(self, address: str) -> bool:
        """Tell whether a host may be contacted at a literal address."""
        return not self.prefixes.touch(address) if self.rule.action == "never" else self.prefixes.hold(address)


class AddressRules:
    """Applies the rules by address of whatever strategy `in_force` returns now."""

    def __init__(self, in_force: Callable[[], Strategy]) -> None:
        self._in_force = in_force
        self._follow()

    def judge(self, host: str, address: str) -> AddressDenied | None:
        """Return what to raise where a rule lets nobody contact a host at an address; else None."""
        rules = self._of_host(host)
        denial = next((each for each in rules if not each.allows(address)), None) if rules else None
        if denial is None:
            return None
        named = f"rule {denial.number} of strategy {self._strategy.version}"
        return AddressDenied(host, address, f"{named} says {denial.words}, and {host} is at {address}")

    def words(self, host: str) -> list[str]:
        """Say what the rules ask of a host's addresses, a phrase for each."""
        return [f"rule {each.number}: {each.words}" for each in self._of_host(host)]

    @property
    def mark(self) -> object:
        """Another value whenever other rules judge addresses."""
        if self._in_force() is not self._strategy:
            self._follow()
        return self._mark

    def is_outdated(self, reason: str) -> bool:
        """Tell whether a URL was refused by a rule by address of another strategy than that in force."""
        return reason.startswith(DENIED) and f" of strategy {self._in_force().version} " not in reason

    def _follow(self) -> None:
        self._strategy = self._in_force()
        numbered = [(n, rule) for n, rule in enumerate(self._strategy.rules, start=1) if rule.action in BY_ADDRESS]
        self._rules = [AddressRule(n, rule, AddressPrefixes(rule.prefixes or ())) for n, rule in numbered]
        self._mark = [rule for _, rule in numbered]
        self._hosts: dict[str, list[AddressRule]] = {}

    def _of_host(self, host: str) -> list[AddressRule]:
        """Return the rules that judge the addresses of a host."""
        if self._in_force() is not self._strategy:
            self._follow()
        if not self._rules:
            return self._rules
        found = self._hosts.get(host)
        if found is None:
            if len(self._hosts) >= REMEMBERED_HOSTS:
                self._hosts.clear()
            found = [each for each in self._rules if each.rule.host is None or host_matches(each.rule.host, host)]
            self._hosts[host] = found
        return found
