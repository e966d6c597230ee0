"""Which documents a page of results reads, and how their texts are written into an answer.

Pure: values only. Titles are strangers' and may have megabytes; how much of a text is shown, its author may bound.
"""

from collections.abc import Mapping, Sequence

from dht import DocumentId, Key
from index.change_feed import Text
from index.config import IndexConfig
from index.query.parser import Query
from index.results.answer_checks import wrong_marks
from index.results.result_picker import PickedHit
from index.results.top_k_merge import MergedHit

MAX_TITLE_CHARS = 300
SIMILAR = 5  # copies named with a result


def wanted(batch: Sequence[PickedHit]) -> list[tuple[DocumentId, Key]]:
    """List the documents of some results, and those of the copies that are named with them."""
    found: list[MergedHit] = [each for picked in batch for each in (picked.found, *picked.similar[:SIMILAR])]
    return [(DocumentId(each.hit.id), Key(each.hit.key)) for each in found]


def true_copies(picked: PickedHit, texts: Mapping[DocumentId, Text | None]) -> list[Text]:
    """List the copies that really are: their signed documents are what peers said of them."""
    found = ((each.hit, texts.get(DocumentId(each.hit.id))) for each in picked.similar[:SIMILAR])
    return [text for hit, text in found if text is not None and not wrong_marks(hit, text)]


def snippet_chars(text: Text, config: IndexConfig) -> int:
    """Return how many characters we show, or its author lets us show, an ellipsis at both ends included."""
    return config.snippet_chars if text.max_snippet < 0 else min(config.snippet_chars, max(0, text.max_snippet - 2))


def readings_of(query: Query) -> list[dict[str, str]]:
    """Tell how a query was read, where that is not obvious."""
    return [{"read_as": each.read_as.value, "piece": each.piece} for each in query.readings]


def cut_title(title: str) -> str:
    """Return a title as it is shown."""
    return title if len(title) <= MAX_TITLE_CHARS else title[: MAX_TITLE_CHARS - 1] + "…"
