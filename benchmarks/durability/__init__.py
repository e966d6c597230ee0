"""How likely is it that a document is lost within a year, and what do its copies cost?

`python -m benchmarks.durability [--quick] [--json]`. Read neighbourhood (machines that come and go, and the copies of
some slots among them, by the very code of a node that decides when copies are made), then __main__. The model is
`store/replication/loss_model.py`; `docs/durability.md` has its assumptions and the figures.
"""
