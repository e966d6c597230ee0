"""Takes the terms of documents from where they are cheapest: from a moment ago, out of their authors' offers, or by
analysis.

Pure but for what is remembered of authors, and of the pages that came last: while their neighbours are crawled, other
sites' anchors come one by one, and each is a new version of the document, whose own words are the same. What is taken
unread is noted with its author, so that it can be proved once somebody is shown the document, and computed anew once
the author is found out.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from index.change_feed import OfferedTerms, Text
from index.engine.forward_table import TakenTerms
from index.engine.terms_trust import FalseTerms, TermsTrust
from index.text.analyzer_rules import AnalyzerRules
from index.text.field_terms import AnchorWords, FieldTerms, analyse, anchor_words, with_anchors
from index.text.forward_index import encode_forward
from index.text.page_terms import PageTerms, digest_of_terms, open_terms
from index.text.surfaces import words_of

MOST_REMEMBERED = 1 << 18  # different terms of pages: some thousand pages, 20 MB
MOST_NOTED = 1 << 14  # pages of which is known what their anchors said: some 5 MB


@dataclass(frozen=True, slots=True)
class _PageAlone:
    """What was made of a page without its anchors; whose offer that was, where it was taken unread."""

    fields: FieldTerms
    words: Sequence[str]
    forward: bytes = b""  # where it was not computed here
    unread: OfferedTerms | None = None


class _Taken(NamedTuple):
    """What a document's terms were made of when they were taken last, beside the page itself."""

    version: bytes  # of the document
    said: AnchorWords
    author: bytes  # whose word was taken for them, b"" nobody's


class TermsIntake:
    """Decides for one index, by its analyzer."""

    def __init__(self, trust: TermsTrust, analyzer: AnalyzerRules) -> None:
        self.trust, self._analyzer = trust, analyzer
        self._recent, self._terms = OrderedDict[bytes, _PageAlone](), 0
        self._taken = OrderedDict[bytes, _Taken]()  # by page

    def take(self, number: int, text: Text, offered: OfferedTerms | None) -> tuple[PageTerms, TakenTerms | None]:
        """Return the terms of a document, and what is to be noted of it where they are its author's, unread."""
        name = text.page_version or text.version
        read = self._recent.pop(name, None)
        if read is not None:
            self._terms -= len(read.fields.vocabulary)
        if read is None or (read.unread and read.unread.author in self.trust.false_authors):
            read = self._read(text, offered)
        if text.is_fetched:
            self._remember(name, read)
            author = read.unread.author if read.unread else b""
            self._note(name, _Taken(text.version, anchor_words(text, self._analyzer), author))
        fields, forward = read.fields, read.forward
        if text.anchors:
            fields, forward = with_anchors(fields, text, self._analyzer), b""
        terms = PageTerms(fields, read.words, forward or encode_forward(text, fields))
        unread = read.unread
        return terms, TakenTerms(number, unread.author, unread.digest, unread.proof) if unread else None

    def says_the_same(self, version: bytes, text: Text) -> bool:
        """Tell whether a document has the terms of the version that was taken of it last: one more site calls its page
        what others did before. Then this version counts as taken."""
        name = text.page_version or text.version
        taken = self._taken.get(name)
        if taken is None or taken.version != version or taken.author in self.trust.false_authors:
            return False
        if is_same := taken.said == anchor_words(text, self._analyzer):
            self._note(name, taken._replace(version=text.version))
        return is_same

    def forget(self) -> None:
        """Forget the pages that came last."""
        self._recent.clear()
        self._terms = 0
        self._taken.clear()

    def is_true(self, text: Text, said: OfferedTerms | TakenTerms) -> bool:
        """Compute again what an author signed of a document, and note what that says of the author."""
        is_true = digest_of_terms(text, self._analyzer) == said.digest
        if is_true:
            self.trust.note_right(said.author, said.digest)
        else:
            self.trust.note_false(FalseTerms(text.id, said.author, said.proof))
        return is_true

    def _remember(self, name: bytes, read: _PageAlone) -> None:
        self._recent[name] = read
        self._terms += len(read.fields.vocabulary)
        while self._terms > MOST_REMEMBERED:
            self._terms -= len(self._recent.popitem(last=False)[1].fields.vocabulary)

    def _note(self, name: bytes, taken: _Taken) -> None:
        self._taken[name] = taken
        self._taken.move_to_end(name)
        if len(self._taken) > MOST_NOTED:
            self._taken.popitem(last=False)

    def _read(self, text: Text, offered: OfferedTerms | None) -> _PageAlone:
        """What is made of a page without its anchors."""
        alone = replace(text, anchors=())
        opened = self._opened(alone, offered) if offered is not None else None
        if offered is not None and opened is not None:
            if offered.author and not self.trust.is_sampled(offered.author, offered.digest):
                return _PageAlone(opened.fields, opened.words, opened.forward, offered)
            if not offered.author or self.is_true(text, offered):
                return _PageAlone(opened.fields, opened.words, opened.forward)
        return _PageAlone(analyse(alone, self._analyzer), words_of(alone))

    def _opened(self, text: Text, offered: OfferedTerms) -> PageTerms | None:
        """The terms that are offered, None where they are of no use; nothing could be shown of what is no terms."""
        if offered.analyzer != self._analyzer.number or offered.author in self.trust.false_authors:
            return None
        try:
            return open_terms(text, offered, self._analyzer)
        except ValueError:
            return None
