"""Replays pages from an archive by pywb, as a program of its own, since pywb changes how Python talks to sockets.

python replay_by_pywb.py FILE.wacz < urls     prints, for each URL, status, Content-Type and SHA-256 as JSON
"""

import io
import json
import sys
from contextlib import redirect_stdout
from hashlib import sha256

from pywb.manager.manager import main as manage  # type: ignore[import-not-found]

ANY_INSTANT = "20240101000000"


def replay(app: object, url: str) -> list[object]:
    """Return what pywb serves for one URL, its body as it stands in the archive."""
    path, _, query = url.partition("?")
    request = {
        "REQUEST_METHOD": "GET", "SCRIPT_NAME": "", "PATH_INFO": f"/w/{ANY_INSTANT}id_/{path}", "QUERY_STRING": query,
        "SERVER_NAME": "localhost", "SERVER_PORT": "80", "HTTP_HOST": "localhost", "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(), "wsgi.errors": sys.stderr,
    }  # fmt: skip
    told: list[object] = []

    def start(status: str, headers: list[tuple[str, str]], error: object = None) -> None:
        told.extend((int(status[:3]), dict(headers).get("Content-Type", "")))

    body = b"".join(app(request, start))  # type: ignore[operator]
    return [url, *told, sha256(body).hexdigest()]


def main() -> None:
    """Replay what is asked on standard input."""
    with redirect_stdout(sys.stderr):
        manage(["init", "w"])
        manage(["add", "--unpack-wacz", "w", sys.argv[1]])
        from pywb.apps.frontendapp import FrontEndApp  # type: ignore[import-not-found]

        app = FrontEndApp()
        found = [replay(app, url) for url in sys.stdin.read().split()]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
