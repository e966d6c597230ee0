"""How do other search programs' clients read our answers? Translates one answer into each client's shape.

Nouns: `FoundAnswer` (what every translation reads), `Feed`. Read found, then yacy, feeds, searxng, open_webui, tavily,
mcp; narrowing writes the filters that clients send beside a query. `routes.py` says what is added to a node.
"""
