"""Measures what an attacker with one machine in a hundred gets, whatever number of identities it makes.

`python -m benchmarks.trust [--part identities|flood|price] [--quick] [--json]`. Read goals, then town (how identities
become members, by the very code of a node), theory (what chance alone would give), and shares (which slots they get);
then flood (what hostile datagrams cost a real node) and price (what grants cost in normal work). SECURITY.md
states the risks that follow.
"""
