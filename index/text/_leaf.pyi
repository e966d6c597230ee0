from collections.abc import Callable, Sequence

from typing_extensions import Buffer

SOURCES: str

class Cutter:
    def __new__(
        cls,
        spaced: bytes,
        letters: bytes,
        latin: Callable[[int], Callable[[str], str]],
        known: Callable[[bytes, int], tuple[tuple[str, ...], tuple[str, ...]]],
        word: Callable[[bytes, int], tuple[tuple[str, ...], tuple[str, ...]]],
        most_chunks: int,
        most_terms: int,
        /,
    ) -> Cutter: ...
    def cut(
        self, lines: Sequence[str], limits: tuple[int, int, int, int, int], stem_class: int, /
    ) -> tuple[list[str], bytes, list[int]]: ...
    def characters_in(self, text: bytes, written: Callable[[int], str], /) -> list[str]: ...
    def forget(self) -> None: ...

def tables_of(
    vocabulary: list[str], places: Buffer, positions: Buffer, run: int, /
) -> tuple[int, bytes, bytes, bytes]: ...
def measure_leaves(
    table: bytes,
    rows: bytes,
    low: bytes,
    many: int,
    places: list[int],
    leaves: tuple[int | tuple[tuple[int, ...], ...], ...],
    spans: tuple[int, ...],
    /,
) -> tuple[tuple[tuple[int, int, int, int], ...], int, bool]: ...
def columns_of(vocabulary: list[str], places: Buffer, shift: int, factor: int, /) -> list[int]: ...
def pieces_with(
    text: str, table: bytes, beginnings: tuple[bytes, ...], most: int, /
) -> list[tuple[int, str]] | None: ...
def best_mark(text: str, marks: list[tuple[int, int, str]], chars: int, edge: int, share: float, /) -> int: ...
def sift_chunks(spaced: bytes, least: int, most: int, /) -> tuple[list[str], list[bytes]]: ...
def written_lines(
    vocabulary: list[str], places: Buffer, lengths: list[int], mark: str, pair: str, last_pair: str, /
) -> tuple[list[str], list[str]]: ...
