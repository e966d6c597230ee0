"""Cuts text for the baselines as their users would: lower case, stop words out, Snowball's stemmer, Han by bigrams.

Pure. All baselines get the same terms, so that they differ by how they rank and nothing else. The list of English stop
words is the node's; nothing else here is its analyzer's, whose faults must show.
"""

import re

import Stemmer

from index.text.stop_words import languages_of

_UNSPACED = "\u3040-\u30ff\u3400-\u9fff"
_TOKEN = re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+")
_stem = Stemmer.Stemmer("english")


def plain_terms(text: str) -> list[str]:
    """Return the terms of a document or a query, in order, repeats included."""
    found: list[str] = []
    for token in _TOKEN.findall(text.lower()):
        if re.match(f"[{_UNSPACED}]", token):
            found += [token[at : at + 2] for at in range(len(token) - 1)] or [token]
        elif "en" not in languages_of(token):
            found.append(_stem.stemWord(token))
    return found
