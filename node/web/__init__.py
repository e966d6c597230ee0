"""How do browsers and programs reach a node? Pages, HTTP API, snapshots, health and metrics over `Service`.

Nouns: `WebServer`, `HttpRoute`, `Api`, `Pages`, `Problem`. Read routes (the one table), api, pages, snapshots;
then guard (what every request passes) and server.
"""
