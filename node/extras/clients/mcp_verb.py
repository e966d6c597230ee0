"""Does the verb mcp: lets an AI client that starts it search the network and read stored pages."""

import asyncio
import signal
from argparse import Namespace

from node.cli.commands.target_node import client
from node.extras.clients.mcp_stdio import serve_mcp


def serve(arguments: Namespace) -> int:
    """Answer an AI client on standard input and output until it closes them; the node may start later."""
    node = client(arguments)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # else Ctrl-C would wait for the thread that reads standard input
    asyncio.run(serve_mcp(node))
    return 0
