"""How do browsers and programs reach a node? Pages, HTTP API, snapshots, health and metrics over `Service`.

Nouns: `WebServer`, `Guard`. Rooms: requests (read routes, the one table, first), rendering, search, owner, clients,
archive. Here are guard (what every request passes), monitoring, key_directory, and server, which joins them.
"""
