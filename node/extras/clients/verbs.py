"""Describes the verb mcp for the command line; `node/extras/__init__.py` names this module."""

from node.cli.verb_building import Verbs, add_place, add_verb


def add_verbs(verbs: Verbs) -> None:
    """Add the verb mcp."""
    about = "serve an AI client by MCP on standard input and output: search, and read stored pages"
    add_place(
        add_verb(verbs, "mcp", "node.extras.clients.mcp_verb:serve", about, "dse-node mcp --url http://127.0.0.1:8090"),
        url=True,
    )
