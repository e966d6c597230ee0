"""The web listener: search page, HTTP API, snapshots, health and metrics, all against `node.service.Service`.

Nouns: `WebServer`, `HttpRoute`, `Api`, `Pages`, `Problem`. Read routes (the one table), api, pages, snapshots;
then guard (what every request passes) and server.
"""

from node.web.pages import CrawlerIdentity
from node.web.server import WebServer

__all__ = ["CrawlerIdentity", "WebServer"]
