"""Every setting has its reason beside it."""

import re
from pathlib import Path

import msgspec

import crawl.config
from crawl import CrawlConfig


def test_each_field_has_a_reason_on_its_line() -> None:
    source = Path(crawl.config.__file__).read_text()
    for field in msgspec.structs.fields(CrawlConfig):
        assert re.search(rf"^    {field.name}: .+ = .+  # \S.+$", source, re.M), f"{field.name} has no reason"
