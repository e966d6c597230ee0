"""Writes an invitation as seven plain words, to be read out or put on a note, and reads them.

Seven of 2,048 words are 77 bits. They are stretched by scrypt with the network's id as salt. So one try costs 32 MB and
a tenth of a second, and none counts for several networks at once. A million tries a second, by an attacker that has the
voucher, would take billions of years.
"""

import difflib
from functools import cache
from hashlib import scrypt
from pathlib import Path
from random import Random

from dht import BadInvitation, Invitation

WORDS = 7
LIST_WORDS = 2048
COST, BLOCK = 1 << 15, 8  # 32 MB
MEMORY_BYTES = 64 << 20
MAX_CHARS = 400
_FILE = Path(__file__).with_name("words_en.txt")


def new_words(rng: Random) -> str:
    """Draw words; `rng` is the system's own randomness outside tests."""
    return " ".join(rng.choices(_words(), k=WORDS))


def is_words(text: str) -> bool:
    """Tell whether a text is meant as words and not as the text or the file of an invitation."""
    return len(text.split()) > 1


def from_words(text: str, network: str) -> Invitation:
    """Return the invitation that words mean in a network (its id, hex), without its voucher; raises BadInvitation."""
    known, words = _words(), text[:MAX_CHARS].lower().split()
    if len(words) != WORDS:
        raise BadInvitation(f"has {len(words)} words", f"write all {WORDS}, with spaces between")
    for number, word in enumerate(words, start=1):
        if word not in known:
            near = difflib.get_close_matches(word, known, n=1)
            remedy = f"did you mean {near[0]!r}?" if near else "ask whoever gave them to you"
            raise BadInvitation(f"has {word[:20]!r} as word {number}, which is none of the list", remedy)
    salt = b"dse-node invitation words\0" + bytes.fromhex(network)
    seed = scrypt(" ".join(words).encode(), salt=salt, n=COST, r=BLOCK, p=1, maxmem=MEMORY_BYTES, dklen=32)
    return Invitation(seed)


@cache
def _words() -> tuple[str, ...]:
    return tuple(_FILE.read_text("ascii").split())
