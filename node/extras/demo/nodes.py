"""Talks to the demo's nodes over their web listeners, as any program would."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aiohttp

from node.extras.demo.layout import DemoNode

ASK_WITHIN = aiohttp.ClientTimeout(total=15)
URLS_A_REQUEST = 20


class NodeClient:
    """Asks any of the nodes over one HTTP session."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def status(self, node: DemoNode) -> dict[str, Any] | None:
        """Return a node's /api/v1/status, None while it does not answer."""
        return await self._get(node, "status", {})

    async def statuses(self, nodes: Sequence[DemoNode]) -> list[dict[str, Any] | None]:
        """Return the status of every node, asked at once."""
        async with asyncio.TaskGroup() as tasks:
            asked = [tasks.create_task(self.status(node)) for node in nodes]
        return [task.result() for task in asked]

    async def search(self, node: DemoNode, query: str, limit: int = 10) -> dict[str, Any] | None:
        """Return a node's /api/v1/search for a query, None where it does not answer."""
        parameters = {"q": query, "limit": str(limit), "deadline_ms": "5000"}
        return await self._get(node, "search", parameters)

    async def local_documents(self, node: DemoNode, urls: Sequence[str]) -> list[dict[str, Any] | None]:
        """Return what a node itself stores of each URL."""
        found: list[dict[str, Any] | None] = []
        for at in range(0, len(urls), URLS_A_REQUEST):
            batch = [("url", url) for url in urls[at : at + URLS_A_REQUEST]] + [("local", "true")]
            async with self._session.get(f"{node.url}/api/v1/document", params=batch, timeout=ASK_WITHIN) as answer:
                answer.raise_for_status()
                found += (await answer.json())["documents"]
        return found

    async def strategy(self, node: DemoNode) -> dict[str, Any]:
        """Return a node's /api/v1/strategy."""
        async with self._session.get(f"{node.url}/api/v1/strategy", timeout=ASK_WITHIN) as answer:
            body: dict[str, Any] = await answer.json()
            return body

    async def crawl(self, node: DemoNode, urls: Sequence[str], depth: int) -> dict[str, Any]:
        """Hand seeds to a node, with the token of its data directory."""
        token = (Path(node.data_dir) / "admin.token").read_text().strip()
        body = {"urls": list(urls), "depth": depth}
        headers = {"Authorization": f"Bearer {token}"}
        async with self._session.post(
            f"{node.url}/api/v1/crawl", json=body, headers=headers, timeout=ASK_WITHIN
        ) as answer:
            answer.raise_for_status()
            result: dict[str, Any] = await answer.json()
            return result

    async def _get(self, node: DemoNode, name: str, parameters: dict[str, str]) -> dict[str, Any] | None:
        try:
            async with self._session.get(f"{node.url}/api/v1/{name}", params=parameters, timeout=ASK_WITHIN) as answer:
                return await answer.json() if answer.status == 200 else None
        except (aiohttp.ClientError, TimeoutError):
            return None
