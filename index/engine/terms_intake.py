"""Takes the terms of documents from where they are cheapest: out of their authors' offers, or by analysis.

Pure but for what is remembered of authors. What is taken unread is noted with its author, so that it can be proved once
somebody is shown the document, and computed anew once the author is found out.
"""

from index.change_feed import OfferedTerms, Text
from index.engine.forward_table import TakenTerms
from index.engine.terms_trust import FalseTerms, TermsTrust
from index.text.analyzer_rules import AnalyzerRules
from index.text.page_terms import PageTerms, digest_of_terms, open_terms, terms_of


class TermsIntake:
    """Decides for one index, by its analyzer."""

    def __init__(self, trust: TermsTrust, analyzer: AnalyzerRules) -> None:
        self.trust, self._analyzer = trust, analyzer

    def take(self, number: int, text: Text, offered: OfferedTerms | None) -> tuple[PageTerms, TakenTerms | None]:
        """Return the terms of a document, and what is to be noted of it where they are its author's, unread."""
        opened = self._opened(text, offered) if offered is not None else None
        if offered is not None and opened is not None:
            if offered.author and not self.trust.is_sampled(offered.author, offered.digest):
                return opened, TakenTerms(number, offered.author, offered.digest, offered.proof)
            if not offered.author or self.is_true(text, offered):
                return opened, None
        return terms_of(text, self._analyzer), None

    def is_true(self, text: Text, said: OfferedTerms | TakenTerms) -> bool:
        """Compute again what an author signed of a document, and note what that says of the author."""
        is_true = digest_of_terms(text, self._analyzer) == said.digest
        if is_true:
            self.trust.note_right(said.author, said.digest)
        else:
            self.trust.note_false(FalseTerms(text.id, said.author, said.proof))
        return is_true

    def _opened(self, text: Text, offered: OfferedTerms) -> PageTerms | None:
        """The terms that are offered, None where they are of no use; nothing could be shown of what is no terms."""
        if offered.analyzer != self._analyzer.number or offered.author in self.trust.false_authors:
            return None
        try:
            return open_terms(text, offered, self._analyzer)
        except ValueError:
            return None
