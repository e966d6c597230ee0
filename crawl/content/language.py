"""A guess at the language of a page: what it says of itself, else the script or the small words that it is written in.

Pure: text in, an ISO 639-1 code out, "" where nothing is sure.
"""

from collections import Counter
from operator import itemgetter

import numpy as np

from crawl.content import page_leaf
from crawl.content.letters import BEYOND_LATIN, OF_WORD, ONLY_UKRAINIAN, SCRIPTS
from dht import language_code

SAMPLE_CHARS = 3_000
_ENOUGH = 0.2  # share of the letters that must be of a script; an ideograph counts for two letters
_FEWEST_LETTERS = 20
_FEWEST_WORDS = 5
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
_SMALL_WORDS = {  # frequent in one language and rare in the others
    "en": "the and of to is that for with this are it you by from be not",
    "de": "der die und das ist nicht mit den ein eine für auf dem werden auch sie",
    "fr": "les des est une pour dans vous que qui sur avec pas du au sont cette",
    "es": "los las una por para con del está puede este como más es el y se",
    "it": "il di che per è una sono con del della questo non gli nel anche alla",
    "pt": "os uma para não com você do da são em como mais pode ao isso dos",
    "nl": "het een van voor niet met zijn op dat wordt deze ook aan bij naar kan",
    "sv": "och att som för är med det på inte ett kan av till den om eller",
    "da": "og at er for med ikke det på til kan en som af den eller du",
    "pl": "nie się na jest do że są przez oraz który dla jak lub tym może być",
    "cs": "se na je že jsou pro nebo jako který lze být při také není pokud od",
    "vi": "của và là không được các một cho người có trong này những bạn với để",
    "ca": "els les una per amb que és del són pot aquest més com la el no",
    "ro": "și este pentru care nu sunt la din cu mai poate prin sau fi acest că",
}
LANGUAGES = tuple(sorted(_SMALL_WORDS))
LANGUAGES_OF: dict[bytes, list[int]] = {}  # by small word: places in LANGUAGES
for _code, _words in _SMALL_WORDS.items():
    for _word in _words.split():
        LANGUAGES_OF.setdefault(_word.encode(), []).append(LANGUAGES.index(_code))
_SLOT_BITS = 9  # four in ten are filled
_GOLDEN = 0x9E3779B97F4A7C15


def _slots() -> bytes:
    """Return a table of the small words for the leaf: 8 bytes of the word, 8 with a bit for each of its languages."""
    slots = [(0, 0)] * (1 << _SLOT_BITS)
    for word, places in LANGUAGES_OF.items():
        number = int.from_bytes(word, "little")
        slot = (number * _GOLDEN & 0xFFFFFFFFFFFFFFFF) >> (64 - _SLOT_BITS)
        while slots[slot][0]:
            slot = (slot + 1) % len(slots)
        slots[slot] = number, sum(1 << place for place in places)
    return np.array(slots, dtype=np.uint64).tobytes()


SMALL_WORDS = _slots()


def guess_language(declared: str, text: str) -> str:
    """Guess the language of a text. A declaration loses only where the script contradicts it beyond doubt."""
    said = language_code(declared[:40])
    start = max(0, len(text) // 4)  # past the navigation at the top
    sample = text[start : start + SAMPLE_CHARS]
    written = _script_language(sample)
    if said and (not written or said == written or any({said, written} <= group for group in _SHARED)):
        return said
    return written or _latin_language(sample)


def _script_language(sample: str) -> str:
    if sample.isascii():
        return ""
    found = page_leaf.leaf.count_letters(sample) if page_leaf.leaf else None
    letters, foreign, ukrainian, *by_script = found or count_letters(sample)
    if foreign < _FEWEST_LETTERS:
        return ""
    counts = dict(zip(SCRIPTS, by_script, strict=True))
    if counts["ja"] >= letters * 0.05 and counts["ja"] + counts["zh"] >= letters * _ENOUGH:
        return "ja"
    code, count = max(counts.items(), key=itemgetter(1))
    if count * (2 if code in _IDEOGRAPHS else 1) < letters * _ENOUGH:
        return ""
    return "uk" if code == "ru" and ukrainian > count * 0.02 else code


def count_letters(sample: str) -> tuple[int, ...]:
    """Count the letters of a text, those beyond Latin, those of Ukrainian alone, and those of each script; 0 of all
    where too few are beyond Latin."""
    beyond = _beyond_ascii(sample)
    foreign = "".join(BEYOND_LATIN.findall(beyond)) if len(beyond) >= _FEWEST_LETTERS else ""
    if len(foreign) < _FEWEST_LETTERS:
        return (0,) * (3 + len(SCRIPTS))
    data = sample.encode("utf-8", "ignore")
    letters = len(data) - len(data.translate(None, _LETTERS)) + sum(map(str.isalpha, beyond))
    return letters, len(foreign), len(ONLY_UKRAINIAN.findall(foreign)), *_script_counts(foreign)


def _script_counts(text: str) -> list[int]:
    """Count the characters of each script."""
    points = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    between = np.bincount(np.searchsorted(_EDGES, points, side="right"), minlength=len(_EDGES))
    counts = dict.fromkeys(SCRIPTS, 0)
    for place, (_, _, code) in enumerate(_RANGES):
        counts[code] += int(between[2 * place + 1])
    return list(counts.values())


def _latin_language(sample: str) -> str:
    """Return the language whose small words are most frequent, "" where none clearly is."""
    lower = sample.lower()
    found = page_leaf.leaf.count_votes(lower, SMALL_WORDS) if page_leaf.leaf else None
    votes = found or count_votes(lower)
    first, second = sorted(range(len(LANGUAGES)), key=lambda place: (-votes[place], place))[:2]
    if votes[first] < _FEWEST_WORDS:
        return ""
    return LANGUAGES[first] if votes[first] > 1.2 * votes[second] else ""


def count_votes(lower: str) -> tuple[int, ...]:
    """Count the small words of each language in a text in lower case."""
    small = Counter(filter(LANGUAGES_OF.get, _words_of(lower)))
    votes = [0] * len(LANGUAGES)
    for word, count in small.items():
        for place in LANGUAGES_OF[word]:
            votes[place] += count
    return tuple(votes)


def _words_of(sample: str) -> list[bytes]:
    """Return the runs of letters, in UTF-8."""
    for other in set(_beyond_ascii(sample)):
        if not OF_WORD.match(other):
            sample = sample.replace(other, " ")
    return sample.encode("utf-8", "ignore").translate(_APART).split()


def _beyond_ascii(text: str) -> str:
    return text.encode("utf-8", "ignore").translate(None, _ASCII).decode()
