"""The sample web by a server of its own, which gives a share of its answers in odd forms."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, unquote

from node.extras.demo.sample_server import SampleServer
from node.extras.demo.sample_site import SampleSite, Times, seeded
from tests.crawl.web.odd_answers import ENDLESS, FORMS, SID, UTM, Asked, Plain

MIRROR = "mirror.flask.test"  # which of two mirrors is read is chance


class OddWeb:
    """Answers for the hosts of the sample. `forms`: how which pages come, by URL; all others come as they are."""

    def __init__(self, root: Path) -> None:
        server = SampleServer(root, None, Times(time.time(), 1.0), "1", 1 << 26, is_calm=True)
        self.sites: dict[str, SampleSite] = {name: site for name, site in server.sites.items() if name != MIRROR}
        self.port, self.forms = 0, dict[str, str]()

    @property
    def fronts(self) -> tuple[str, ...]:
        """The front pages of all hosts."""
        return tuple(f"http://{name}:{self.port}/" for name in self.sites)

    def make_odd(self, forms: Sequence[str], share: float, urls: list[str], seed: int) -> None:
        """Give a share of the URLs these forms, each as often."""
        chosen = seeded(seed).sample(sorted(urls), round(share * len(urls)))
        self.forms = {url: forms[n % len(forms)] for n, url in enumerate(chosen)}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer requests over one connection, which stays open where the form allows that."""
        try:
            form = ""
            while form not in ENDLESS:
                first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                fields = dict(line.split(": ", 1) for line in lines if line)
                form, answer = self._answer(
                    Asked(f"http://{fields['Host']}", first.split()[1], fields.get("Cookie", ""))
                )
                writer.write(answer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _answer(self, asked: Asked) -> tuple[str, bytes]:
        """Return the name of an answer's form, "" for none, and the answer."""
        path, _, query = asked.target.partition("?")
        kept = "&".join(each for each in query.split("&") if each and each not in (UTM, SID))
        site = self.sites[asked.base.removeprefix("http://").partition(":")[0]]
        made = site.answer(unquote(path), parse_qs(kept), ("", ""), 0.0)
        about = tuple(f"{name}: {value}".encode() for name, value in made.headers.items() if name != "Content-Type")
        status = b"HTTP/1.1 %d Status" % made.status
        plain = Plain(made.bodies[""], made.headers["Content-Type"].encode(), about, status)
        name = self.forms.get(f"{asked.base}{path}{'?' if kept else ''}{kept}") if made.status == 200 else None
        if name is None or (name.startswith("type: U") and not is_utf8(plain.body)):
            return "", plain.whole()
        return name, FORMS[name](plain, asked)


def is_utf8(body: bytes) -> bool:
    try:
        return bool(body.decode())
    except UnicodeDecodeError:
        return False


@asynccontextmanager
async def open_odd_web(root: Path) -> AsyncIterator[OddWeb]:
    web = OddWeb(root)
    server = await asyncio.start_server(web.serve, "127.0.0.1", 0)
    web.port = server.sockets[0].getsockname()[1]
    for site in web.sites.values():
        site.port = web.port
    try:
        yield web
    finally:
        server.close()
