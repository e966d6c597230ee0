"""Speaks MCP on standard input and output, for an AI client that started this process; needs the extra `mcp`.

The one file that imports the SDK, which keeps standard output for the protocol: what else is printed there goes to
standard error. It answers until its input ends.
"""

import asyncio
import json

from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from dht import DseError
from node.cli.http_client import HttpClient
from node.cli.mcp_tools import INSTRUCTIONS, TOOLS, McpTool, call_tool
from node.version import VERSION


async def serve_mcp(node: HttpClient) -> None:
    """Answer a client by asking a node, until the client closes standard input."""

    async def tell(context: ServerRequestContext, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_described(tool) for tool in TOOLS])

    async def call(context: ServerRequestContext, params: CallToolRequestParams) -> CallToolResult:
        try:  # in a thread, of which asyncio has few: one slow answer holds up no other
            answer = await asyncio.to_thread(call_tool, node, params.name, params.arguments or {})
        except DseError as error:
            return CallToolResult(content=[TextContent(text=str(error))], is_error=True)
        text = json.dumps(answer, ensure_ascii=False)
        return CallToolResult(content=[TextContent(text=text)], structured_content=answer)

    server = Server("dse-node", version=VERSION, instructions=INSTRUCTIONS, on_list_tools=tell, on_call_tool=call)
    async with stdio_server() as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())


def _described(tool: McpTool) -> Tool:
    return Tool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=tool.input_schema,
        output_schema=tool.gives,
        annotations=ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=True
        ),
    )
