"""Types two Chinese words without a space between them, as everybody does, or one character alone, and looks whether
anything answers.

The words stand alone somewhere in the texts (between marks or spaces), and both stand in one text. Their joined form
stands in none. So only an answer that takes the words apart can be right.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from random import Random

from benchmarks.figures import Row
from benchmarks.search.extent import Extent
from benchmarks.search.figure import figure, left_out
from benchmarks.search.goals import JOINED_UNANSWERED
from benchmarks.search.judged_sets import as_texts
from benchmarks.search.one_node import one_node
from benchmarks.search.other_script import chinese_set

PAIRS = 300
CHARACTERS = 300
COMMON = 3  # texts at least in which a word stands alone
_HAN = re.compile("[\u4e00-\u9fff]")
_RUN = re.compile("(?<![\u3400-\u9fff])[\u3400-\u9fff]{2}(?![\u3400-\u9fff])")


def rows(extent: Extent) -> list[Row]:
    """Return the rows of joined pairs."""
    asked = chinese_set(extent)
    if asked is None:
        return [left_out("joined Chinese words", "needs --judged DIR with cmrc2018-zh")]
    pairs = word_pairs(list(asked.documents.values()), extent.most(PAIRS), Random(1))
    bodies, texts = list(asked.documents.values()), as_texts(asked.documents)
    characters = sorted(set(_HAN.findall("".join(bodies))))
    alone = Random(1).sample(characters, extent.most(min(CHARACTERS, len(characters))))

    async def measured() -> tuple[list[float], list[float], list[float]]:
        async with one_node(texts, extent.engine) as node:
            return (
                [float(not await node.places(one + other)) for one, other in pairs],
                [float(not await node.places(f"{one} {other}")) for one, other in pairs],
                [min(1.0, (await node.ask(each))["total"] / sum(each in text for text in bodies)) for each in alone],
            )

    joined, spaced, found = asyncio.run(measured())
    what = f"Chinese words joined, without an answer ({len(pairs)})"
    return [
        figure(what, joined, goal=JOINED_UNANSWERED, at_least=False),
        figure("the same words with a space, without an answer", spaced),
        figure(f"one Chinese character alone, share of its pages that it finds ({len(alone)})", found),
    ]


def word_pairs(texts: Sequence[str], most: int, chance: Random) -> list[tuple[str, str]]:
    """Return pairs of words that one text holds and no text joins."""
    seen = Counter(word for text in texts for word in set(_RUN.findall(text)))
    words = {word for word, count in seen.items() if count >= COMMON}
    everything, out = "\n".join(texts), []
    for text in chance.sample(texts, len(texts)):
        here = sorted({word for word in words if word in text})
        if len(here) >= 2 and len(out) < most:
            one, other = chance.sample(here, 2)
            if one + other not in everything and (one, other) not in out:
                out.append((one, other))
    return out
