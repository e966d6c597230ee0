"""How do other search programs' clients read our answers? Pure translations of one answer into each client's shape.

Nouns: `FoundAnswer` (what every translation reads), `Feed`. Read found first, then yacy, feeds, searxng, open_webui,
tavily, mcp; narrowing writes the filters that clients send beside a query. `node/extras/clients/web/client_handlers.py`
has the handlers, `node/extras/clients/web/mcp_tools.py` the tools of MCP.
"""
