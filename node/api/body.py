"""Defines the two kinds of HTTP bodies, orders and answers, and the plain data of an answer.

Pure: values only.
"""

from typing import Any

import msgspec

NODE_HEADER = "Dse-Node"  # of every answer: the id of the node that gave it
Json = dict[str, Any]  # of a body, or a part of one, whose fields are not fixed


class RequestBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request; a field that it does not have is an error."""


class ResponseBody(msgspec.Struct):
    """The body of an answer, or a part of one. A client ignores fields that it does not know."""

    def plain(self) -> Json:
        """Return the answer as plain data, as a client reads it from JSON."""
        made: Json = msgspec.to_builtins(self)
        return made
