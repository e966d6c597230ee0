"""Measure a web that is too large for one machine on Apache Spark: sites, languages, degrees, PageRank of both.

dse-node archive export web.parquet && .venv/bin/pip install pyspark
.venv/bin/python examples/web_shape_on_spark.py web.parquet shape.json
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

DAMPING = 0.85  # Brin & Page 1998
CONVERGED = 1e-6  # ranks add up to 1, and are together wrong by no more: see `pagerank`
MAX_ROUNDS = 200
SHOWN = 20
SITE = "regexp_extract({}, '^https?://([^/?#]*)', 1)"


def links_of(pages: DataFrame) -> DataFrame:
    """Return the links from each page to other URLs (`source`, `target`), each once."""
    each = pages.select(f.col("url").alias("source"), f.explode("links").alias("target"))
    return each.where("source != target").distinct()


def pagerank(pages: DataFrame, links: DataFrame) -> DataFrame:
    """Return the rank of each page that is stored or linked to (`url`, `rank`). Ranks add up to 1.

    It solves x = (1 - a) / N + a Pᵀx, where pages without links give nothing, and divides by the sum at the end. The
    result is the PageRank in which such pages give to all alike. After a round that changes x by m in all, ranks are
    wrong by at most 2 a m / (1 - a) / Σx: see node/extras/web_report/page_rank.py."""
    urls = pages.select("url").union(links.select(f.col("target").alias("url"))).distinct().cache()
    base = (1 - DAMPING) / max(1, urls.count())
    counts = links.groupBy("source").agg((1 / f.count("*")).alias("weight"))
    shares = links.join(counts, "source").cache()
    ranks = urls.withColumn("rank", f.lit(base)).localCheckpoint()
    for _ in range(MAX_ROUNDS):
        given = shares.join(ranks, shares.source == ranks.url).groupBy("target")
        inflow = given.agg(f.sum(f.col("rank") * f.col("weight")).alias("inflow")).withColumnRenamed("target", "url")
        rank = base + DAMPING * f.coalesce("inflow", f.lit(0.0))
        after = urls.join(inflow, "url", "left").select("url", rank.alias("rank")).localCheckpoint()
        before = ranks.withColumnRenamed("rank", "before")
        moved = after.join(before, "url").agg(f.sum(f.abs(f.col("rank") - f.col("before"))), f.sum("rank")).first()
        ranks = after
        if moved is None or moved[0] is None or 2 * moved[0] * DAMPING / (1 - DAMPING) <= CONVERGED * moved[1]:
            break
    total = ranks.agg(f.sum("rank")).first()
    return ranks.withColumn("rank", f.col("rank") / f.lit(total[0] if total and total[0] else 1.0))


def measure(pages: DataFrame) -> dict[str, object]:
    """Return the figures of a Parquet export; of histograms, pairs of a value and how many have it."""
    links = links_of(pages).cache()
    sites = links.select(f.expr(SITE.format("source")).alias("source"), f.expr(SITE.format("target")).alias("target"))
    votes = sites.where("source != target").distinct().cache()
    stored = pages.select(f.expr(SITE.format("url")).alias("url"))
    return {
        "pages": pages.count(),
        "links": links.count(),
        "languages": _rows(pages.groupBy("language").count().orderBy(f.desc("count"), "language")),
        "pages_by_site": _rows(_most(pages.groupBy(f.expr(SITE.format("url")).alias("site")).count(), "site")),
        "sites_by_votes": _rows(_most(votes.groupBy(f.col("target").alias("site")).count(), "site")),
        "links_out": _histogram(links, "source"),
        "links_in": _histogram(links, "target"),
        "top_pages": _rows(_best(pagerank(pages, links))),
        "top_sites": _rows(_best(pagerank(stored, votes))),
    }


def _best(ranks: DataFrame) -> DataFrame:
    return ranks.orderBy(f.desc("rank"), "url").limit(SHOWN)


def _most(counted: DataFrame, name: str) -> DataFrame:
    return counted.orderBy(f.desc("count"), name).limit(SHOWN)


def _histogram(links: DataFrame, end: str) -> list[Sequence[object]]:
    degrees = links.groupBy(end).agg(f.count("*").alias("degree"))
    return _rows(degrees.groupBy("degree").count().orderBy("degree"))


def _rows(found: DataFrame) -> list[Sequence[object]]:
    return [list(row) for row in found.collect()]


def main() -> int:
    """Read the export that is named first, and write figures to the file that is named second."""
    spark = SparkSession.builder.appName("web shape").getOrCreate()
    try:
        figures = measure(spark.read.parquet(sys.argv[1]).select("url", "language", "links").dropDuplicates(["url"]))
    finally:
        spark.stop()
    Path(sys.argv[2]).write_text(json.dumps(figures, ensure_ascii=False, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
