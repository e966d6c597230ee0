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
        if offered is not None and self._fits(offered):
            opened = self._opened(text, offered)
            if opened is not None and not offered.author:
                return opened, None
            if opened is not None and not self.trust.is_sampled(offered.author, offered.digest):
                return opened, TakenTerms(number, offered.author, offered.digest, offered.proof)
            self._judge(text, offered, is_sound=opened is not None)
        return terms_of(text, self._analyzer), None

    def is_true(self, text: Text, taken: TakenTerms) -> bool:
        """Compute again what was taken of a document, and note what that says of its author."""
        return self._judge(text, taken, is_sound=True)

    def _fits(self, offered: OfferedTerms) -> bool:
        is_usable = offered.analyzer == self._analyzer.number
        return is_usable and offered.author not in self.trust.false_authors

    def _opened(self, text: Text, offered: OfferedTerms) -> PageTerms | None:
        try:
            return open_terms(text, offered, self._analyzer)
        except ValueError:
            return None

    def _judge(self, text: Text, said: OfferedTerms | TakenTerms, *, is_sound: bool) -> bool:
        """Hold what an author signed against the document; what cannot be opened was signed so, too."""
        if is_sound and digest_of_terms(text, self._analyzer) == said.digest:
            self.trust.note_right(said.author, said.digest)
            return True
        if said.author:
            self.trust.note_false(FalseTerms(text.id, said.author, said.proof))
        return False
