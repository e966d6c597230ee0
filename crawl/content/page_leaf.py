"""The compiled leaf of the parser: the dearest steps that judge a page's text in C, where they could be built.

Its C lies in `crawl/content/leaf`, and `hatch_build.py` compiles it at install. Each step gives, byte for byte, what
the Python function gives that it stands for. That function is its definition, and serves where nothing was built. The
leaf knows of characters beyond ASCII what `letters_table` says. A text with others has its language found in Python.
"""

from functools import cached_property
from types import ModuleType

from crawl.content.letters import letters_table
from dht import load_leaf


class PageLeaf:
    """The steps of the leaf."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self.steady_of = module.steady_of  # see fingerprint.py
        self.sign = module.sign
        self.names_in = module.names_in  # see raw_html.py

    @cached_property
    def _letters(self) -> bytes:
        """Made when the first page is read, since a node reads none itself."""
        return letters_table()

    def read_texts(self, marked: str, max_chars: int) -> tuple[str, str, str]:
        """Do what `boilerplate.read_texts` does."""
        data = marked.encode("utf-8", "surrogatepass")
        texts: tuple[str, str, str] = self._module.read_texts(data, self._letters, max_chars)
        return texts

    def count_letters(self, sample: str) -> tuple[int, ...] | None:
        """Do what `language.count_letters` does; None: Python must."""
        counts: tuple[int, ...] | None = self._module.count_letters(sample.encode("utf-8", "ignore"), self._letters)
        return counts

    def count_votes(self, lower: str, words: bytes) -> tuple[int, ...] | None:
        """Do what `language.count_votes` does; None: Python must."""
        votes: tuple[int, ...] | None = self._module.count_votes(lower.encode("utf-8", "ignore"), self._letters, words)
        return votes


def load() -> tuple[PageLeaf | None, str]:
    """Return the leaf, where one was compiled from the sources that are here, and for the owner what runs."""
    module, state = load_leaf("crawl.content")
    return PageLeaf(module) if module else None, state


leaf, PAGE_LEAF_STATE = load()
