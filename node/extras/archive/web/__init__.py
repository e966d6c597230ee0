"""How is what is stored given out as an archive? Raw copies, Memento, an index of captures, snapshots.

Nouns: `Archive`, `Snapshots`. Read archive_handlers, memento.
"""
