"""The server: the tools by the official SDK, over standard input and output."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from cepctl import __version__
from cepctl.assistants.places import OpenFolders
from cepctl.assistants.tools import Tools
from cepctl.assistants.wording import in_words_of_tools
from cepctl.errors import CepctlError, UsageError

_LONGEST_ERROR = 4_000
INSTRUCTIONS = (
    "cepctl finds patterns in logs with uncertain times.  Ask `inspect` what is in the events, then `match` "
    "a query; `why_not` tells why nothing matches, `show` explains a row.  Nothing is written."
)


def server(places: OpenFolders) -> Any:
    """The server of the SDK, an `MCPServer`, for what lies below some folders.

    Raises
    ------
    UsageError
        If the SDK is not installed.
    """
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.types import ToolAnnotations
    except ImportError:
        raise UsageError("the SDK of the protocol is not installed; pip install 'cepctl[mcp]'") from None

    made = MCPServer("cepctl", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR")
    tools = Tools(places)
    for tool in (tools.inspect, tools.match, tools.why_not, tools.show):
        annotations = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
        # As structured content as well, every answer would be sent twice.
        made.tool(annotations=annotations, structured_output=False)(_with_errors_in_words(tool, ToolError))
    return made


def _with_errors_in_words(
    tool: Callable[..., dict[str, Any]], error: type[Exception]
) -> Callable[..., dict[str, Any]]:
    """The tool, whose errors that a user can mend reach the assistant as they are."""

    @wraps(tool)
    def calling(*given: Any, **named: Any) -> dict[str, Any]:
        try:
            return tool(*given, **named)
        except CepctlError as problem:
            raise error(in_words_of_tools(str(problem))[:_LONGEST_ERROR]) from None

    return calling
