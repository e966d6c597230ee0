"""How do other people's programs reach a node? Endpoints of YaCy, SearXNG, Tavily and others, and MCP.

Nouns: `Clients`, `Mcp`, `McpTool`. Read client_handlers, mcp; `node/extras/clients/` has the forms.
"""
