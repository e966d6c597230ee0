"""Takes the terms of documents from where they are cheapest: out of their authors' offers, or by analysis.

Pure but for what is remembered of authors. What is taken unread is noted with its author, so that it can be proved once
somebody is shown the document, and computed anew once the author is found out.
"""

from index.change_feed import OfferedTerms, Text
from index.engine.forward_table import TakenTerms
from index.engine.terms_trust import FalseTerms, TermsTrust
from index.text.analyzer_rules import AnalyzerRules
from index.text.page_terms import PageTerms, analyzer_in, digest_of_terms, open_terms, terms_of


class TermsIntake:
    """Decides for one index, by its analyzer."""

    def __init__(self, trust: TermsTrust, analyzer: AnalyzerRules) -> None:
        self.trust, self._analyzer = trust, analyzer

    def take(self, number: int, text: Text, offered: OfferedTerms | None) -> tuple[PageTerms, TakenTerms | None]:
        """Return the terms of a document, and what is to be noted of it where they are its author's, unread."""
        if offered is None or not self._fits(text, offered):
            return terms_of(text, self._analyzer), None
        author = offered.author
        try:
            opened = open_terms(text, offered, self._analyzer)
        except ValueError:  # it was signed so
            return self._refuse(text, offered, terms_of(text, self._analyzer))
        if not author:
            return opened, None
        if not self.trust.is_sampled(author, text.version):
            return opened, TakenTerms(number, author, offered.digest, offered.proof)
        own = terms_of(text, self._analyzer)
        if digest_of_terms(own, self._analyzer) != offered.digest:
            return self._refuse(text, offered, own)
        self.trust.note_right(author)
        return own, None

    def is_true(self, text: Text, taken: TakenTerms) -> bool:
        """Compute again what was taken of a document, and note what that says of its author."""
        is_true = digest_of_terms(terms_of(text, self._analyzer), self._analyzer) == taken.digest
        if is_true:
            self.trust.note_right(taken.author)
        else:
            self.trust.note_false(FalseTerms(text.id, text.version, taken.author, taken.proof))
        return is_true

    def _fits(self, text: Text, offered: OfferedTerms) -> bool:
        """Whether an offer may be of use: anchors, which came later, are in none."""
        is_other = offered.author in self.trust.false_authors or analyzer_in(offered.data) != self._analyzer.number
        return not (is_other or text.anchors)

    def _refuse(self, text: Text, offered: OfferedTerms, own: PageTerms) -> tuple[PageTerms, None]:
        if offered.author:
            self.trust.note_false(FalseTerms(text.id, text.version, offered.author, offered.proof))
        return own, None
