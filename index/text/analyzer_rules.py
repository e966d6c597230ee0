"""The analyzers that this release knows, by number: what they differ in.

Pure: values only. The strategy names the analyzer in force. Two analyzers are two indexes, built side by side. An
analyzer that a release has published is frozen. A change of what documents or queries become is an analyzer with a
number of its own. The one before stays for as long as networks may go by it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class AnalyzerRules:
    """One analyzer.

    Attributes:
        number: the number that the strategy names.
        limits: how many terms of title, headings, address and main text are kept.
    """

    number: int
    limits: tuple[int, int, int, int]


ANALYZERS = {1: AnalyzerRules(1, (64, 512, 64, 20_000))}
NEWEST_ANALYZER = ANALYZERS[max(ANALYZERS)]
