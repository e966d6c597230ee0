"""How do readers and programs get stored pages? One by one as a framed copy, by date, or many at once.

Nouns: `Snapshots`, `Memento`, `Documents`. Read documents, then snapshots and memento.
"""
