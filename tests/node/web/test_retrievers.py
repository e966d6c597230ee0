"""The retrievers of examples/retrieve_for_llms.py against a listener; the frameworks' own classes where installed."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from dse_node_client import Client

from tests.node.extras.clients.printed import settings

EXAMPLE = Path(__file__).parents[3] / "examples" / "retrieve_for_llms.py"
PAGE = "http://docs.python.test/3/tutorial/appetite.html"
BEGINNING = "If you do much work on computers"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    spec = spec_from_file_location("retrieve_for_llms", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def node(site: Any) -> Client:
    return Client(f"http://127.0.0.1:{site.port}")


def test_passages_are_stored_texts_else_snippets(example: Any, node: Client, site: Any) -> None:
    first, *_ = example.passages(node, "task", 3)
    assert (first.url, first.text[: len(BEGINNING)]) == (PAGE, BEGINNING)
    assert first.score > 0 and site.service.asked[-1].limit == 3
    assert example.passages(node, "nothing holds this", 3) == []


def test_a_page_without_a_copy_gives_its_snippet(example: Any, node: Client, site: Any) -> None:
    found = {each.url: each.text for each in example.passages(node, "task", 3)}
    assert found["http://evil.test/"] == "<img src=x onerror=alert(1)> & <b>task</b> text"


def as_printed(framework: str, example: Any, site: Any) -> Any:
    """Make the retriever that docs/clients.md prints for a framework."""
    printed, file, _ = settings(f"{framework}, as a retriever of stored texts", site.port)
    assert EXAMPLE.match(file)
    return eval(printed, vars(example))


@pytest.mark.prove
def test_langchain_is_given_documents(example: Any, site: Any) -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    first, *_ = as_printed("LangChain", example, site).invoke("task")
    assert first.metadata["source"] == PAGE and first.page_content.startswith(BEGINNING)


@pytest.mark.prove
def test_llama_index_is_given_nodes_with_scores(example: Any, site: Any) -> None:
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    first, *_ = as_printed("LlamaIndex", example, site).retrieve("task")
    assert first.metadata["url"] == PAGE and first.text.startswith(BEGINNING) and first.score == 12.5
