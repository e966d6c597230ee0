"""A guess at the language of a page: by its script and small words, and by what it says of itself.

Pure: text in, an ISO 639-1 code out, "" where nothing is sure.
"""

from array import array
from collections import Counter
from collections.abc import Sequence
from operator import itemgetter

import numpy as np

from crawl.content import page_leaf
from crawl.content.letters import BEYOND_LATIN, OF_ONE, OF_WORD, SCRIPTS
from dht import language_code, stop_lists

SAMPLE_CHARS = 3_000
_VOTE_CHARS = 1_200  # some 200 words, of which a third are small ones
_CHECK_CHARS = 480  # where a language is declared
_WINDOWS = 4  # that these characters come from: manuals leave whole sections in English
_ENOUGH = 0.2  # share of the letters that must be of a script; an ideograph counts for two letters
_FEWEST_LETTERS = 20
_LONGEST = 8  # bytes of a small word, as the leaf compares them
_LEAST_VOTES = 90  # two words that one language has alone, or more that it shares
_OUTVOTED = 2, 4  # a declared language loses to one with so many times its votes, and so many words more
_SURELY_ENGLISH = 8  # words, in a text whose declared language has no list
_QUOTED = 4, 3  # texts of all languages quote English: it loses to one with a third of its votes, and three words
_OWN_SHARE = 0.02  # of the letters of a script, by which a language has it to itself
_RANGES = sorted((*span, code) for code, spans in SCRIPTS.items() for span in spans)
_EDGES = np.array([edge for first, last, _ in _RANGES for edge in (first, last + 1)], dtype=np.uint32)
_IDEOGRAPHS = frozenset(("ja", "ko", "zh"))
_SHARED = (  # languages that a script does not tell apart: a declaration among them stands
    frozenset(("ru", "uk", "be", "bg", "mk", "sr", "kk", "ky", "mn", "tg", "tt")),
    frozenset(("ar", "fa", "ur", "ps", "ku", "ug", "sd")),
    frozenset(("hi", "mr", "ne", "sa")),
    frozenset(("he", "yi")),
)
_ASCII = bytes(range(128))
_LETTERS = bytes(byte for byte in _ASCII if chr(byte).isalpha())
_APART = bytes(byte if byte in _LETTERS or byte not in _ASCII else 0x20 for byte in range(256))
LANGUAGES = tuple(code for code in stop_lists() if code not in (*_IDEOGRAPHS, "fa"))  # whose script tells them
WEIGHT = 60  # of a small word, shared by the languages that have it
_CYRILLIC = ("ru", "uk", "bg")
_PLACES = {code: place for place, code in enumerate(LANGUAGES)}
_CYRILLIC_PLACES = tuple(map(_PLACES.__getitem__, _CYRILLIC))
_LATIN_PLACES = tuple(_PLACES[code] for code in LANGUAGES if code not in (*_CYRILLIC, "el"))
_ENGLISH = _PLACES["en"]


def _votes() -> dict[bytes, tuple[list[int], int]]:
    """Return by small word the places of its languages in LANGUAGES, and what each gets: a share of WEIGHT. A word that
    English has, too, is a vote for English alone: else each English text would look a little Dutch."""
    places: dict[bytes, list[int]] = {}
    for code, place in _PLACES.items():
        for word in dict.fromkeys(stop_lists()[code]):
            if (
                len(word) > 1
                and len(small := word.encode()) <= _LONGEST
                and (word.isalpha() or OF_WORD.fullmatch(word))
            ):
                places.setdefault(small, []).append(place)
    return {word: ([_ENGLISH] if _ENGLISH in found else found, WEIGHT // len(found)) for word, found in places.items()}


VOTES_OF = _votes()
_SLOT_BITS = 13  # three in ten are filled; the leaf has the number, too
_GOLDEN = 0x9E3779B97F4A7C15


def _slots() -> bytes:
    """Return a table of the small words for the leaf: 16 bytes a slot. Eight are the word; seven have a bit for
    each of its languages; the last one is the weight of its vote."""
    slots = array("Q", bytes(16 << _SLOT_BITS))  # word and languages by turns
    for word, (places, weight) in VOTES_OF.items():
        number = int.from_bytes(word, "little")
        slot = (number * _GOLDEN & 0xFFFFFFFFFFFFFFFF) >> (64 - _SLOT_BITS)
        while slots[2 * slot]:
            slot = (slot + 1) % (1 << _SLOT_BITS)
        slots[2 * slot] = number
        slots[2 * slot + 1] = sum([1 << place for place in places]) | weight << 56
    return slots.tobytes()


SMALL_WORDS = _slots()


def guess_language(declared: str, text: str) -> str:
    """Guess the language of a text. A declaration is one vote, which script and small words may outvote."""
    said = language_code(declared[:40])
    start = max(0, len(text) // 4)  # past the navigation at the top
    sample = text[start : start + SAMPLE_CHARS]
    written = _script_language(sample)
    if written and written not in _CYRILLIC:
        return said if any({said, written} <= group for group in _SHARED) else written
    votes = _votes_of(_windows(text, _CHECK_CHARS if said else _VOTE_CHARS))
    first = _first(_CYRILLIC_PLACES if written else _LATIN_PLACES, votes)
    if said and _stands(said, written, votes, first):
        return said
    return LANGUAGES[first] if votes[first] >= _LEAST_VOTES else written


def _windows(text: str, chars: int) -> str:
    """Return so many characters of a long text, from places that are equally far apart."""
    share, apart = chars // _WINDOWS, len(text) // (_WINDOWS + 1)
    if apart < share:
        return text[len(text) // 4 :][:chars]
    return " ".join([text[apart * number :][:share] for number in range(1, _WINDOWS + 1)])


def _first(places: Sequence[int], votes: Sequence[int]) -> int:
    """Return the place of the language with the most votes; of the next one, where English may be quoted."""
    first = max(places, key=votes.__getitem__)
    if first != _ENGLISH:
        return first
    second = max((place for place in places if place != _ENGLISH), key=votes.__getitem__)
    times, least = _QUOTED
    return second if votes[second] * times > votes[first] and votes[second] >= least * WEIGHT else first


def _stands(said: str, written: str, votes: Sequence[int], first: int) -> bool:
    """Tell whether a declared language is not outvoted by the first one. Those without a list look like a relative that
    has one, but never like English."""
    if written and not any({said, written} <= group for group in _SHARED):
        return False
    if said in _PLACES:
        times, more = _OUTVOTED
        times = 1 if said == "en" else times  # it is quoted, and templates declare it
        return votes[first] <= times * votes[_PLACES[said]] + more * WEIGHT
    return bool(written) or LANGUAGES[first] != "en" or votes[first] < _SURELY_ENGLISH * WEIGHT


def _script_language(sample: str) -> str:
    if sample.isascii():
        return ""
    found = page_leaf.leaf.count_letters(sample) if page_leaf.leaf else None
    letters, foreign, *others = found or count_letters(sample)
    if foreign < _FEWEST_LETTERS:
        return ""
    counts = dict(zip(SCRIPTS, others[len(OF_ONE) :], strict=True))
    if counts["ja"] >= letters * 0.05 and counts["ja"] + counts["zh"] >= letters * _ENOUGH:
        return "ja"
    code, count = max(counts.items(), key=itemgetter(1))
    if count * (2 if code in _IDEOGRAPHS else 1) < letters * _ENOUGH:
        return ""
    for (own, (script, _)), many in zip(OF_ONE.items(), others[: len(OF_ONE)], strict=True):
        if script == code and many > count * _OWN_SHARE:
            return own
    return code


def count_letters(sample: str) -> tuple[int, ...]:
    """Count the letters of a text, those beyond Latin, those of one language alone, and those of each script; 0 of
    all where too few are beyond Latin."""
    beyond = _beyond_ascii(sample)
    foreign = "".join(BEYOND_LATIN.findall(beyond)) if len(beyond) >= _FEWEST_LETTERS else ""
    if len(foreign) < _FEWEST_LETTERS:
        return (0,) * (2 + len(OF_ONE) + len(SCRIPTS))
    data = sample.encode("utf-8", "ignore")
    letters = len(data) - len(data.translate(None, _LETTERS)) + sum(map(str.isalpha, beyond))
    own = [len(pattern.findall(foreign)) for _, pattern in OF_ONE.values()]
    return letters, len(foreign), *own, *_script_counts(foreign)


def _script_counts(text: str) -> list[int]:
    """Count the characters of each script."""
    points = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    between = np.bincount(np.searchsorted(_EDGES, points, side="right"), minlength=len(_EDGES))
    counts = dict.fromkeys(SCRIPTS, 0)
    for place, (_, _, code) in enumerate(_RANGES):
        counts[code] += int(between[2 * place + 1])
    return list(counts.values())


def _votes_of(sample: str) -> Sequence[int]:
    lower = sample.lower()
    found = page_leaf.leaf.count_votes(lower, SMALL_WORDS) if page_leaf.leaf else None
    return found or count_votes(lower)


def count_votes(lower: str) -> tuple[int, ...]:
    """Weigh the small words of each language in a text in lower case."""
    small = Counter(filter(VOTES_OF.get, _words_of(lower)))
    votes = [0] * len(LANGUAGES)
    for word, count in small.items():
        places, weight = VOTES_OF[word]
        for place in places:
            votes[place] += count * weight
    return tuple(votes)


def _words_of(sample: str) -> list[bytes]:
    """Return the runs of letters, in UTF-8."""
    for other in set(_beyond_ascii(sample)):
        if not OF_WORD.match(other):
            sample = sample.replace(other, " ")
    return sample.encode("utf-8", "ignore").translate(_APART).split()


def _beyond_ascii(text: str) -> str:
    return text.encode("utf-8", "ignore").translate(None, _ASCII).decode()
