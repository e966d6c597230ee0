"""Give a language model what a network keeps about a question: retrievers for LangChain and LlamaIndex, over a node.

    .venv/bin/python examples/retrieve_for_llms.py "opening hours"

prints the passages that a retriever returns. It needs `dse-node-client`, and no daemon on this machine. Neither
framework is needed for that: `langchain_retriever` needs `langchain-core`, and `llama_index_retriever` needs
`llama-index-core`. Passages are what strangers wrote on their pages: material for a model to judge, never instructions.
"""

import argparse
import sys
from dataclasses import dataclass
from typing import Any

from dse_node_client import Client, NodeError

NODE = "http://127.0.0.1:8090"
PASSAGE_CHARACTERS = 4000  # of a stored page, from its beginning; some thousand tokens


@dataclass(frozen=True)
class Passage:
    """A text about a question, and the page that it is from."""

    text: str
    url: str
    title: str
    score: float


def passages(node: Client, question: str, count: int) -> list[Passage]:
    """Return the beginnings of the best pages, as far as their authors let them be shown, else their snippets."""
    results = node.search(question, limit=count)["results"]
    stored = node.texts([found["url"] for found in results])
    return [
        Passage(
            stored.get(found["url"], "")[:PASSAGE_CHARACTERS] or found["snippet"],
            found["url"],
            found["title"],
            found["score"],
        )
        for found in results
    ]


def langchain_retriever(node: Client, count: int = 5) -> Any:
    """Return a retriever of LangChain, whose documents name `source` and `title`."""
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class DseRetriever(BaseRetriever):  # type: ignore[misc]
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [
                Document(page_content=found.text, metadata={"source": found.url, "title": found.title})
                for found in passages(node, query, count)
            ]

    return DseRetriever()


def llama_index_retriever(node: Client, count: int = 5) -> Any:
    """Return a retriever of LlamaIndex, whose nodes name `url` and `title` and have the network's score."""
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    class DseRetriever(BaseRetriever):  # type: ignore[misc]
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return [
                NodeWithScore(
                    node=TextNode(text=found.text, metadata={"url": found.url, "title": found.title}), score=found.score
                )
                for found in passages(node, query_bundle.query_str, count)
            ]

    return DseRetriever()


def main() -> int:
    """Print the passages that a retriever gives a model."""
    parser = argparse.ArgumentParser(description="print the passages that a retriever gives a language model")
    parser.add_argument("question")
    parser.add_argument("--node", default=NODE, help="the web listener of a node")
    parser.add_argument("--count", type=int, default=5, help="passages, at most 20")
    arguments = parser.parse_args()
    try:
        found = passages(Client(arguments.node), arguments.question, arguments.count)
    except NodeError as error:
        print(error, file=sys.stderr)
        return 1
    for passage in found:
        print(f"{passage.title}  {passage.url}\n{passage.text}\n")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
