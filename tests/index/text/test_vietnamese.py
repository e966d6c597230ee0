"""Vietnamese: words that differ in their tones alone are found by them, and by those who type none."""

import asyncio

import pytest

from benchmarks.search.judged_sets import as_texts
from benchmarks.search.one_node import one_node
from index.query.parser import parse_query
from index.results.snippet import make_snippet, terms_of
from index.text.stem_classes import VIETNAMESE

PAGES = {
    "ghost": "Truyện kể về những con ma trong ngôi nhà cũ. Người ta nói rằng ma đi lại vào ban đêm và ma sợ ánh sáng.",
    "mother": "Má tôi là người miền Nam. Mỗi sáng má nấu cơm cho cả nhà và má kể chuyện về quê hương.",
    "seedling": "Mạ là cây lúa còn non. Nông dân gieo mạ rồi nhổ mạ để cấy xuống ruộng khi trời đã ấm.",
    "code": "Mã nguồn của chương trình được viết bằng nhiều ngôn ngữ. Mã này được công bố trên mạng.",
    "grave": "Mồ mả của tổ tiên được con cháu sửa sang vào mùa xuân. Mả nằm ở trên đồi, và mả nào cũng có hoa.",
    "map": "Bản đồ in hình các tỉnh và các con sông. Bản đồ này được vẽ từ năm ngoái, và đã có nhiều người mua.",
    "shop": "Cửa hàng bán đồ cũ ở đầu phố. Người ta bán đồ gỗ và bán đồ chơi cho trẻ em trong khu này.",
    "rash": "Ban đỏ ở trên da là dấu hiệu của bệnh. Khi có ban đỏ thì bạn nên đi gặp bác sĩ, vì ban đỏ có thể lan ra.",
    "fish": "Cá sống ở sông và ở biển. Người dân ăn cá với cơm, và cá được bán ở chợ vào mỗi buổi sáng.",
    "aubergine": "Cà là một loại quả. Cà tím được trồng trong vườn, và cà thì được nấu với thịt.",
    "song": "Ca sĩ hát một bài ca về quê hương. Bài ca này rất hay và được nhiều người biết.",
    "travel": "Du lịch vào mùa hè thì rất vui. Khách du lịch đi ra biển và ăn hải sản ở những quán nhỏ.",
    "calendar": "Lịch treo ở trên tường. Dù là lịch cũ thì người ta vẫn giữ, dù không còn dùng nữa.",
    "balance": "Số dư trong tài khoản được tính lại mỗi ngày. Số dư âm thì phải trả lãi cho ngân hàng.",
    "peace": "Hòa bình là điều mà mọi người đều muốn. Sau chiến tranh thì hòa bình đã trở lại với các làng.",
}
ASKED = {
    "mạ": "seedling", "má": "mother", "mã": "code", "mả": "grave", "bản đồ": "map", "bán đồ": "shop", "ban đỏ": "rash",
    "cá": "fish", "cà": "aubergine", "du lịch": "travel", "số dư": "balance", "hoà bình": "peace",
}  # fmt: skip
TONELESS = {"du lich mua he": {"travel"}, "ban do": {"map", "shop", "rash"}, "ma": {"ghost", "mother", "code", "grave"}}


async def ask(queries: list[str]) -> list[list[str]]:
    names = list(PAGES)
    async with one_node(as_texts(PAGES), "memory") as node:
        return [[names[place] for place in await node.places(text)] for text in queries]


def test_tones_that_are_typed_decide_which_page_stands_first() -> None:
    found = asyncio.run(ask(list(ASKED)))
    assert {query: order[:1] for query, order in zip(ASKED, found, strict=True)} == {
        query: [page] for query, page in ASKED.items()
    }


def test_without_tones_all_words_are_found_that_have_any() -> None:
    for order, pages in zip(asyncio.run(ask(list(TONELESS))), TONELESS.values(), strict=True):
        assert set(order) >= pages


@pytest.mark.parametrize("typed, shown", [("bản đồ", "Bản đồ"), ("hoa binh", "Hòa bình"), ("hoà bình", "Hòa bình")])
def test_a_snippet_marks_words_typed_either_way(typed: str, shown: str) -> None:
    text = next(page for page in PAGES.values() if shown in page)
    snippet = make_snippet((text,), terms_of(parse_query(typed).leaves, VIETNAMESE), 60, VIETNAMESE)
    marked = {snippet.text[start:stop] for start, stop in snippet.highlights}
    assert set(shown.split()) <= marked
