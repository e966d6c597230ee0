"""Asks Chinese questions in the script that the texts are not written in, Traditional or Simplified."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec

from benchmarks.figures import Row
from benchmarks.search.extent import Extent
from benchmarks.search.figure import figure, left_out, weighted_mean
from benchmarks.search.goals import CMRC_HIT1, OTHER_SCRIPT_LOSS
from benchmarks.search.judged_sets import JudgedSet, as_texts, read_set, set_folders
from benchmarks.search.measures import hit
from benchmarks.search.one_node import one_node

CHINESE = "cmrc2018-zh"
QUESTIONS = 700


def rows(extent: Extent) -> list[Row]:
    """Return the rows of both directions, beside the questions as they are."""
    asked = chinese_set(extent)
    if asked is None:
        return [left_out("questions in the other script", f"needs --judged DIR with {CHINESE}")]
    if not find_spec("opencc"):
        return [left_out("questions in the other script", "needs the package opencc")]
    traditional = replace(asked, documents=converted(asked.documents, "s2t"))
    same = asyncio.run(hits(asked, asked.queries, extent.engine))
    to_traditional = asyncio.run(hits(asked, converted(asked.queries, "s2t"), extent.engine))
    to_simplified = asyncio.run(hits(traditional, converted(asked.queries, "t2s"), extent.engine))
    least = round(weighted_mean(same) - OTHER_SCRIPT_LOSS, 4)
    return [
        figure(f"Chinese questions in the script of the texts ({len(same)}), hit@1", same, goal=CMRC_HIT1),
        figure("  Traditional questions, Simplified texts", to_traditional, goal=least),
        figure("  Simplified questions, Traditional texts", to_simplified, goal=least),
    ]


def chinese_set(extent: Extent) -> JudgedSet | None:
    """Read the Chinese set, None where it was not given."""
    folders = [] if extent.judged is None else [path for path in set_folders(extent.judged) if path.name == CHINESE]
    return read_set(folders[0], extent.most(QUESTIONS)) if folders else None


def converted(texts: Mapping[str, str], way: str) -> dict[str, str]:
    """Convert texts by OpenCC: "s2t" to Traditional characters, "t2s" to Simplified ones."""
    import opencc

    converter = opencc.OpenCC(way)
    return {name: converter.convert(text) for name, text in texts.items()}


async def hits(asked: JudgedSet, queries: Mapping[str, str], engine: str) -> Sequence[float]:
    """Return for each question whether the first result is relevant."""
    names = list(asked.documents)
    async with one_node(as_texts(asked.documents), engine) as node:
        return [
            hit([names[place] for place in await node.places(text)], asked.grades[name])
            for name, text in queries.items()
        ]
