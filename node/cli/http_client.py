"""Talks to the running node for commands: plain HTTP to its web listener, with the token where one is needed."""

import http.client
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from node.api.body import NODE_HEADER, Json
from node.config.settings import NodeConfig
from node.errors import HomeNotRunning, NotRunning, RefusedByNode
from node.views.safe_text import plain

WAIT_S = 35.0  # a little longer than the node gives itself
MAX_ANSWER_BYTES = 128 << 20  # an answer of the archive may end with eight pages of 4 MiB, with their texts
_OTHER = "something else listens there: name the node with --url or --data-dir"
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # a listener on all addresses is asked on loopback


@dataclass(frozen=True, slots=True)
class HttpClient:
    """Asks one node, given the base URL of its web listener; or only the node `node_id`, which lives in `home`."""

    url: str
    token: str = ""
    home: str = ""
    node_id: str = ""  # 40 hex digits; "": any node may answer

    def get(self, path: str, query: Mapping[str, object] | Sequence[tuple[str, object]] = ()) -> Json:
        """GET a path and read JSON; raises NotRunning or RefusedByNode."""
        return self._ask_for_object("GET", f"{path}?{urlencode(query)}" if query else path, None)

    def post(self, path: str, body: bytes | Json) -> Json:
        """POST JSON with the token and read JSON; raises NotRunning or RefusedByNode."""
        return self._ask_for_object("POST", path, body if isinstance(body, bytes) else json.dumps(body).encode())

    def post_for_list(self, path: str, body: Json) -> list[Json]:
        """POST JSON and read a list of objects; raises NotRunning or RefusedByNode."""
        value = self._ask("POST", path, json.dumps(body).encode())
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise NotRunning(self.url, "an answer of another kind", _OTHER)
        return value

    def _ask_for_object(self, method: str, target: str, body: bytes | None) -> Json:
        value = self._ask(method, target, body)
        if not isinstance(value, dict):
            raise NotRunning(self.url, "an answer of another kind", _OTHER)
        return value

    def _ask(self, method: str, target: str, body: bytes | None) -> Any:
        parts = urlsplit(self.url)
        headers = {"Accept": "application/json"} | ({"Content-Type": "application/json"} if body is not None else {})
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80, timeout=WAIT_S)
            try:
                connection.request(method, target, body, headers)
                answer = connection.getresponse()
                status, raw, found = answer.status, answer.read(MAX_ANSWER_BYTES), answer.headers.get(NODE_HEADER, "")
            finally:
                connection.close()
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            reason = (reason or type(error).__name__).lower()
            if not self.node_id:
                raise NotRunning(self.url, reason) from None
            state = "does not answer" if isinstance(error, TimeoutError) else "does not run"
            why = f"this node {state} (no node answers at {self.url}: {reason})"
            raise HomeNotRunning(self.home, why) from None
        if self.node_id and found != self.node_id:
            other = f"node {plain(found, 12)}" if found else "something else"
            raise HomeNotRunning(self.home, f"this node does not run ({other} listens at {self.url})")
        return self._read(status, raw)

    def _read(self, status: int, raw: bytes) -> Any:
        try:
            value = json.loads(raw)
        except ValueError:
            raise NotRunning(self.url, f"status {status}, not JSON", _OTHER) from None
        if status >= 400:
            if not isinstance(value, dict):
                raise NotRunning(self.url, f"status {status}, of another kind", _OTHER)
            position = value.get("position")
            detail = plain(value.get("detail") or f"status {status}")
            raise RefusedByNode(detail, status, position if isinstance(position, int) else None)
        return value


def base_url(config: NodeConfig) -> str:
    """Return where the web listener of a configuration is reached from this machine."""
    host = _ANY.get(config.web_address, config.web_address)
    return f"http://{f'[{host}]' if ':' in host else host}:{config.web_port}"
