"""How likely is it that a document is lost within a year, what do its copies cost, and when are they made?

`python -m benchmarks.durability [--quick] [--json] [--part NAME]`. Read neighbourhood (machines that come and go, and
the copies of some slots among them, by the very code of a node that decides when copies are made), then moved and
killed (whole nodes in virtual time, grown by grown: what a join or an absence moves, and how long repair takes), then
__main__. The model is `loss_model.py`; `docs/durability.md` has its assumptions and the figures, and
`docs/survival.md` those of moved and killed.
"""
