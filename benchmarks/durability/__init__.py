"""How likely is it that a document is lost within a year, what do its copies cost, and when are they made?

`python -m benchmarks.durability [--quick] [--json] [--part NAME]`. Read these files in this order:

- neighbourhood: machines that come and go, and copies of slots among them, by a node's own code for when to copy
- moved and killed: whole nodes in virtual time, grown by grown: moves after a join or an absence, and times of repair
- __main__: the program

The model is `loss_model.py`; `docs/durability.md` has its assumptions and the figures, and `docs/survival.md` those of
moved and killed.
"""
