"""Writes the examples that the fuzzers' corpus lacks: `python -m tests.keep_examples`, in the folder of the project.

Examples of a published version never change.
"""

from tests.dht.attacks import test_fuzzed_messages as messages
from tests.dht.attacks import test_fuzzed_packets as packets
from tests.kept_corpus import keep
from tests.store.segments import test_fuzzed_segments as segments

if __name__ == "__main__":
    for what, made in (("messages", messages.MADE), ("packets", packets.FLOWN), ("segments", segments.MADE)):
        for name, data in made.items():
            keep(what, name, data)
