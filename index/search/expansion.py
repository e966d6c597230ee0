"""Which words of the network a query's patterns stand for: every holder lists its commonest, with exact counts.

Pure: lists in, words out. The words that most documents hold are chosen; where holders know more words than they list,
it is told whether one that was left out could have been chosen.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from index.query.patterns import MAX_ALTERNATIVES, MAX_LISTED, WordPattern, alternatives
from index.shard.messages import StatisticsAnswer


def expand(
    patterns: Sequence[WordPattern], answers: Iterable[tuple[StatisticsAnswer, int]]
) -> tuple[dict[WordPattern, list[str]], bool]:
    """Return the words that each pattern stands for, and whether they are surely the commonest; with each answer, how
    many of its slots count."""
    given = list(answers)
    chosen: dict[WordPattern, list[str]] = {}
    is_sure = all(slots == len(answer.slots) for answer, slots in given)
    for number, pattern in enumerate(patterns):
        lists = [answer.words[number] for answer, _ in given if number < len(answer.words)]
        documents = Counter[str]()
        for words in lists:
            documents.update({word: count for word, count in words if pattern.stands_for(word)})
        chosen[pattern] = alternatives(documents, MAX_ALTERNATIVES // len(patterns))
        least = min((documents[word] for word in chosen[pattern]), default=0)
        unlisted = [min(count for _, count in words) for words in lists if len(words) >= MAX_LISTED]
        is_sure &= not unlisted or sum(unlisted) < least
    return chosen, is_sure
