"""Measures what an attacker with one machine in a hundred gets, whatever number of identities it makes.

`python -m benchmarks.trust [--part identities|flood|price] [--quick] [--json]`. Read these files in this order:

- goals
- town: how identities become members, by a node's own code
- theory: the results of chance alone
- shares: the slots that the attacker's identities get
- flood: the cost of hostile datagrams for a real node
- price: the cost of grants in normal work

SECURITY.md states the risks that follow.
"""
