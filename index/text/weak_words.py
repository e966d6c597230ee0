"""How much of its weight a word of a query keeps: words that ask, and the grammar of Chinese, say little of a subject.

Pure: a word in, a share out. Stop words are not looked for at all; these are, because somebody may mean them ("paper",
"information"), but a page is no better for them where other words are there. A bigram of Chinese that holds a character
of grammar is often no word, yet rare: a part of its weight goes for each.
"""

_ASKING_WORDS = (
    "article articles available concerned concerning deal dealing deals describe describes describing discuss "
    "discusses discussing information interest interested literature paper papers publication publications regarding "
    "related relating"
)
_ASKING = frozenset(_ASKING_WORDS.split())
_GRAMMAR = frozenset("的了是在和与有为以对于及其之而什幺哪谁吗呢何怎几多少样")  # as the analyzer writes them
_HAN = "\u3400", "\u9fff"


def kept_share(word: str, asking: float, grammar: float) -> float:
    """Return the share of its weight that a word of a query, one of `analyzer.words`, keeps: `asking` where it only
    asks, `grammar` for each character of grammar; of powers of two it is one."""
    if word in _ASKING:
        return asking
    if len(word) == 2 and all(_HAN[0] <= letter <= _HAN[1] for letter in word):
        return grammar ** sum(letter in _GRAMMAR for letter in word)
    return 1.0
