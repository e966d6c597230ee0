"""Whether this machine cuts text into the terms of the network: a fixed text, and what its terms hash to.

Pure: text in, terms out. The analyzer depends on two things that are not ours: Python's Unicode tables and the Snowball
stemmer. The stems of some words below differ between releases: PyStemmer 2.2, 3.0 and 3.1 each give others. A node with
other terms would call honest peers liars, and be called one. A new analyzer has a new digest.
"""

import sys
import unicodedata
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import version

from dht import LocalError
from index.text.analyzer import terms
from index.text.analyzer_rules import NEWEST_ANALYZER
from index.text.stem_classes import CLASSES

TEXT = """
Internal internally internals interval intervals interfering lateral organization organizations organized paste pasted
pastes added adding universal universally university universities university's running dogs' John's don't dying skies
hopping relational generously communities early proceed exceed succeeded inning outing evening 3.11 x_y C++ 2026th
l'eau d’État Ünïcode ŁÓDŹ straße ﬁne ＡＢＣ İstanbul Đorđe Þórr œuvre naïve cafe\u0301 Ελλάδα ΣΊΣΥΦΟΣ Москва Йод ёлка
北京大学的搜索引擎，東 ｶﾞｷﾞｸﾞ 東京タワー 한국어 검색 ภาษาไทย ພາສາລາວ ភាសាខ្មែរ မြန်မာစာ हिन्दी में தமிழ் עברית العَرَبِيَّة ½ ② Ⅳ
Größe Datenbanken chevaux actif información archivi bestanden språket käyttäjät hálózatok rețele sunucular pliki soubory
indices went colours pg_dump utf-8 IPv6 C# .NET 軟體網絡 կանոններ کتاب‌ها किताबें புத்தகங்கள் књиге libros 2024-11-22
Hà Nội hoà
"""
DIGEST = "739de8e60ecff0b38e0c1cc0fe40d7bd23408a048b5ad2dd1f3bede662802ce8"


@dataclass(eq=False)
class AnalyzerDiffers(LocalError):
    """The libraries of this machine cut text into other terms than the network does."""

    stemmer: str
    unicode: str

    def __str__(self) -> str:
        python = ".".join(map(str, sys.version_info[:3]))
        return (
            f"analyzer {NEWEST_ANALYZER.number}: this machine cuts text into other terms than the network does "
            f"(PyStemmer {self.stemmer}, Python {python} with Unicode {self.unicode}); "
            "install the version of PyStemmer that this program asks for: pip install 'pystemmer>=3.1,<3.2'"
        )


@cache
def check_analyzer() -> None:
    """Raise AnalyzerDiffers where the golden text has other terms here. A process that passed once is not asked again:
    its libraries stay what they are."""
    if terms_digest() != DIGEST:
        raise AnalyzerDiffers(version("pystemmer"), unicodedata.unidata_version)


def terms_digest() -> str:
    """Hash the terms of the golden text in documents of each stem class."""
    classes = (" ".join(terms(TEXT, stem_class=number)) for number in range(len(CLASSES)))
    return sha256("\n".join(classes).encode()).hexdigest()
