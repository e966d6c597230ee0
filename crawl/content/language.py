"""A guess at the language of a page: what it says of itself, else the script or the small words that it is written in.

Pure: text in, an ISO 639-1 code out, "" where nothing is sure.
"""

import re
from collections import Counter

import numpy as np

_SAMPLE_CHARS = 3_000
_ENOUGH = 0.2  # share of the letters that must be of a script; an ideograph counts for two letters
_FEWEST_LETTERS = 20
_FEWEST_WORDS = 5
_BEYOND_LATIN = re.compile(r"[^\u0000-\u036f\u1e00-\u2fff]+")
_SCRIPTS = {  # first and last characters
    "ja": ((0x3040, 0x30FF),),  # kana: Han, which Japanese shares, is counted as Chinese
    "ko": ((0xAC00, 0xD7A3), (0x1100, 0x11FF)),
    "zh": ((0x4E00, 0x9FFF), (0x3400, 0x4DBF)),
    "el": ((0x0370, 0x03FF),),
    "he": ((0x0590, 0x05FF),),
    "th": ((0x0E00, 0x0E7F),),
    "hy": ((0x0530, 0x058F),),
    "ka": ((0x10A0, 0x10FF),),
    "ta": ((0x0B80, 0x0BFF),),
    "hi": ((0x0900, 0x097F),),
    "ar": ((0x0600, 0x06FF),),
    "ru": ((0x0400, 0x04FF),),
}
_RANGES = sorted((*span, code) for code, spans in _SCRIPTS.items() for span in spans)
_EDGES = np.array([edge for first, last, _ in _RANGES for edge in (first, last + 1)], dtype=np.uint32)
_IDEOGRAPHS = frozenset(("ja", "ko", "zh"))
_SHARED = (  # languages that a script does not tell apart: a declaration among them stands
    frozenset(("ru", "uk", "be", "bg", "mk", "sr", "kk", "ky", "mn", "tg", "tt")),
    frozenset(("ar", "fa", "ur", "ps", "ku", "ug", "sd")),
    frozenset(("hi", "mr", "ne", "sa")),
    frozenset(("he", "yi", "iw")),
)
_ONLY_UKRAINIAN = re.compile(r"[іїєґІЇЄҐ]")
_CODE = re.compile(r"\s*([A-Za-z]{2})(?:[-_].*|\s*)$")
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
_LANGUAGES_OF: dict[bytes, list[str]] = {}
for _code, _words in _SMALL_WORDS.items():
    for _word in _words.split():
        _LANGUAGES_OF.setdefault(_word.encode(), []).append(_code)


def guess_language(declared: str, text: str) -> str:
    """Guess the language of a text. A declaration loses only where the script contradicts it beyond doubt."""
    match = _CODE.match(declared[:40])
    said = match[1].lower() if match else ""
    start = max(0, len(text) // 4)  # past the navigation at the top
    sample = text[start : start + _SAMPLE_CHARS]
    written = _script_language(sample)
    if said and (not written or said == written or any({said, written} <= group for group in _SHARED)):
        return said
    return written or _latin_language(sample)


def _script_language(sample: str) -> str:
    if sample.isascii():
        return ""
    beyond = _beyond_ascii(sample)
    foreign = "".join(_BEYOND_LATIN.findall(beyond)) if len(beyond) >= _FEWEST_LETTERS else ""
    if len(foreign) < _FEWEST_LETTERS:
        return ""
    data = sample.encode("utf-8", "ignore")
    letters = len(data) - len(data.translate(None, _LETTERS)) + sum(map(str.isalpha, beyond))
    counts = _script_counts(foreign)
    if counts["ja"] >= letters * 0.05 and counts["ja"] + counts["zh"] >= letters * _ENOUGH:
        return "ja"
    code, count = counts.most_common(1)[0]
    if count * (2 if code in _IDEOGRAPHS else 1) < letters * _ENOUGH:
        return ""
    return "uk" if code == "ru" and len(_ONLY_UKRAINIAN.findall(foreign)) > count * 0.02 else code


def _script_counts(text: str) -> Counter[str]:
    """Count the characters of each script."""
    points = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    between = np.bincount(np.searchsorted(_EDGES, points, side="right"), minlength=len(_EDGES))
    counts = Counter(dict.fromkeys(_SCRIPTS, 0))
    for place, (_, _, code) in enumerate(_RANGES):
        counts[code] += int(between[2 * place + 1])
    return counts


def _latin_language(sample: str) -> str:
    """Return the language whose small words are most frequent, "" where none clearly is."""
    small = Counter(filter(_LANGUAGES_OF.get, _words_of(sample.lower())))
    votes: Counter[str] = Counter()
    for word, count in small.items():
        for code in _LANGUAGES_OF[word]:
            votes[code] += count
    ranked = sorted(votes.items(), key=lambda item: (-item[1], item[0]))
    if not ranked or ranked[0][1] < _FEWEST_WORDS:
        return ""
    return ranked[0][0] if len(ranked) == 1 or ranked[0][1] > 1.2 * ranked[1][1] else ""


def _words_of(sample: str) -> list[bytes]:
    """Return the runs of letters, in UTF-8."""
    for other in set(_beyond_ascii(sample)):
        if not other.isalnum() or other.isdecimal():
            sample = sample.replace(other, " ")
    return sample.encode("utf-8", "ignore").translate(_APART).split()


def _beyond_ascii(text: str) -> str:
    return text.encode("utf-8", "ignore").translate(None, _ASCII).decode()
