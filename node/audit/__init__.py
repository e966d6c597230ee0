"""Second looks: a node fetches some pages of other authors again, and keeps evidence where they differ.

Read `second_looks.py` first: which pages are looked at, and when. `second_look.py` makes one look within the budget, in
a turn of the site (`site_turns.py`). `evidence_keeper.py` keeps what was found (`dht/audit/evidence.py`), publishes
it, and withdraws this node's votes. `evidence_desk.py` reads the evidence of all finders, and fetches pages again, for
`dse-node evidence`.
"""
