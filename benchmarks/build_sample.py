"""Build the demo's bundled sample web: `python -m benchmarks.build_sample --cache DIR`.

The program reads sample.toml, gets the documentation packages that it names (`apt-get download`, read with dpkg-deb),
and writes sample.tar.zst (HOST/pages and HOST/_site.toml) and NOTICE into `node/extras/demo`.
The same packages and the same zstandard give the same bytes.
Pages are whole but for scripts, style sheets, comments and head links. Links to pages left out are unlinked. Well-known
absolute links lead to the host that has the page here.
"""

import argparse
import io
import json
import posixpath
import random
import re
import subprocess
import tarfile
import tomllib
from collections import Counter
from html import escape, unescape
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit

import msgspec
import zstandard

HERE = Path(__file__).parent
DEMO = HERE.parent / "node" / "demo"
LARGEST_BYTES = 1_000_000  # the archive travels with every checkout
OLD_COUNT = 3  # links on the portal for each wildcard redirect
PAGE = re.compile(r"\.x?html?$", re.I)
DULL = re.compile(r"/(genindex|search|noscript|py-modindex|sitemap|_modules|_sources|bookindex|infoschema|spi-)")
LINK = re.compile(rb"""(<(?:a|area)\b[^>]*?)\s(href\s*=\s*)("[^"]*"|'[^']*')""", re.I)
BASE = re.compile(rb"""<base\s[^>]*?href\s*=\s*["']([^"']+)["']""", re.I)
LOADED = re.compile(
    rb"<(script|noscript|style)\b.*?</\1\s*>|<script\b[^>]*/>|<link\b[^>]*>|<!--.*?-->|<\?xml\b.*?\?>", re.I | re.S
)


class HostRecipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One host of sample.toml that has pages of its own."""

    name: str
    language: str
    package: str
    folder: str
    front: str
    pages: int
    biggest_kb: int
    upstream: str
    licence: str
    holders: str
    settings: dict[str, object] = {}
    orphans: list[str] = []


class ExtraHost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One host of sample.toml without pages of its own."""

    name: str
    title: str
    settings: dict[str, object]


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Holds all of sample.toml; aliases are (prefix, host, replacement)."""

    host: list[HostRecipe]
    extra: list[ExtraHost]
    aliases: list[tuple[str, str, str]]


class SamplePage(msgspec.Struct, frozen=True):
    """Holds a page as the package has it, cleaned, and its time in the package (Unix seconds)."""

    body: bytes
    mtime: int


def read_recipe() -> Recipe:
    """Parse sample.toml."""
    return msgspec.convert(tomllib.loads((HERE / "sample.toml").read_text("utf-8")), Recipe)


def fetch_package(package: str, cache: Path) -> Path:
    """Return the package's .deb, downloaded once."""
    if not list(cache.glob(f"{package}_*.deb")):
        subprocess.run(["apt-get", "download", "-q", package], cwd=cache, check=True)
    return next(cache.glob(f"{package}_*.deb"))


def read_pages(deb: Path, folder: str) -> dict[str, SamplePage]:
    """Read all HTML pages under one folder of a package, by path from that folder."""
    feed = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(deb)], capture_output=True, check=True).stdout
    pages = {}
    with tarfile.open(fileobj=io.BytesIO(feed)) as tar:
        for member in tar:
            name = posixpath.normpath(member.name)
            if member.isfile() and name.startswith(folder + "/") and PAGE.search(name):
                file = tar.extractfile(member)
                assert file is not None
                pages[name.removeprefix(folder)] = SamplePage(LOADED.sub(b"", file.read()), int(member.mtime))
    return pages


def target_of(url: str, path: str, raw: bytes) -> str:
    """Return the path that a relative link leads to; a folder stands for its index page."""
    base = BASE.search(raw[:4000])
    here = urljoin("http://host" + quote(path), base.group(1).decode() if base else "")
    target = unquote(urlsplit(urljoin(here, url)).path)
    return target + "index.html" if target.endswith("/") else target


def is_relative(url: str) -> bool:
    """Tell whether a link stays on its host and leaves its page."""
    return bool(url) and url[0] != "#" and not url.startswith("//") and ":" not in url.split("/")[0]


def link_text(match: re.Match[bytes]) -> str:
    """Return the URL inside one LINK match."""
    return match.group(3)[1:-1].decode("utf-8", "replace").strip()


def choose(host: HostRecipe, files: dict[str, SamplePage]) -> list[str]:
    """Return the pages to keep: a crawl's first ones, in seeded random order; each is linked from an earlier one."""
    small = {p for p, page in files.items() if len(page.body) <= host.biggest_kb * 1000 and not DULL.search(p)}
    allowed = (small - set(host.orphans)) | {host.front}
    order: list[str] = []
    seen, waiting, chance = {host.front}, [host.front], random.Random(host.name)
    while waiting and len(order) < host.pages:
        path = waiting.pop(chance.randrange(len(waiting)))
        order.append(path)
        raw = files[path].body
        for url in map(link_text, LINK.finditer(raw)):
            target = target_of(url, path, raw) if is_relative(url) else ""
            if target in allowed and target not in seen:
                seen.add(target)
                waiting.append(target)
    return [*order, *host.orphans]


class Rewriter:
    """Points links at what the sample web has."""

    def __init__(self, recipe: Recipe, files: dict[str, dict[str, SamplePage]], kept: dict[str, list[str]]) -> None:
        self._files, self._kept = files, {host: set(paths) for host, paths in kept.items()}
        self._orphans = {host.name: set(host.orphans) for host in recipe.host}
        self._aliases = sorted(recipe.aliases, key=lambda row: -len(row[0]))
        self.counts: Counter[str] = Counter()

    def page(self, host: str, path: str) -> bytes:
        """Return a kept page with its links rewritten."""
        raw = self._files[host][path].body

        def change(match: re.Match[bytes]) -> bytes:
            url = link_text(match)
            if url.startswith(("http://", "https://")):
                return self._outside(url, match)
            return self._inside(host, path, raw, url, match) if is_relative(url) else match.group(0)

        return LINK.sub(change, raw)

    def _inside(self, host: str, path: str, raw: bytes, url: str, match: re.Match[bytes]) -> bytes:
        target = target_of(url, path, raw)
        if target in self._kept[host] - self._orphans[host]:
            self.counts["within hosts"] += 1
            return match.group(0)
        self.counts["unlinked"] += 1
        return match.group(1)

    def _outside(self, url: str, match: re.Match[bytes]) -> bytes:
        local = self.find_local(url)
        self.counts["between hosts" if local else "to the real web"] += 1
        return match.group(1) + b" " + match.group(2) + b'"' + local.encode() + b'"' if local else match.group(0)

    def find_local(self, url: str) -> str | None:
        """Return the sample's URL for a well-known absolute one, or None."""
        bare, _, anchor = url.split("://", 1)[1].partition("#")
        for prefix, host, shown in self._aliases:
            if bare != prefix and not bare.startswith((prefix + "/", prefix + "?")):
                continue
            tail = unquote(bare[len(prefix) :].split("?")[0]) or "/"
            for path in (tail, tail.rstrip("/") + "/index.html", tail + ".html"):
                if path in self._kept[host] - self._orphans[host]:
                    return shown + quote(path) + ("#" + anchor if anchor else "")
            return shown + "/"
        return None


def write_toml(settings: dict[str, object]) -> bytes:
    """Write a flat TOML table (JSON's scalars and lists are TOML's)."""
    return "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in settings.items()).encode()


def old_addresses(recipe: Recipe, kept: dict[str, list[str]]) -> list[str]:
    """Return a few URLs that lead to a page by each wildcard redirect."""
    urls = []
    hosts: list[HostRecipe | ExtraHost] = [*recipe.host, *recipe.extra]
    for host in hosts:
        for source, target, _ in msgspec.convert(host.settings.get("redirects", []), list[tuple[str, str, int]]):
            paths = kept.get(urlsplit(target).hostname or host.name, []) if source.endswith("*") else []
            urls += [f"http://{host.name}:8800{source[:-1]}{quote(path[1:])}" for path in paths[1::7][:OLD_COUNT]]
    return urls


def portal(recipe: Recipe, titles: dict[str, str], old: list[str]) -> bytes:
    """Write the front page of portal.test: one link for each other host, then the old addresses."""
    rows = [(host.name, titles[host.name], host.language) for host in recipe.host]
    rows += [(host.name, host.title, "en") for host in recipe.extra]
    items = "".join(
        f'<li lang="{lang}"><a href="http://{name}:8800/">{escape(title)}</a> ({name})</li>\n'
        for name, title, lang in rows
    )
    moved = "".join(f'<li><a href="{url}">{url}</a></li>\n' for url in old)
    title = "Portal of the sample web"
    head = f'<head><meta charset="utf-8"><title>{title}</title></head>'
    body = f"<h1>{title}</h1>\n<ul>\n{items}</ul>\n<h2>Old addresses</h2>\n<ul>\n{moved}</ul>"
    return f'<!doctype html>\n<html lang="en">{head}<body>{body}</body></html>\n'.encode()


def title_of(raw: bytes) -> str:
    """Return a page's title as plain text."""
    found = re.search(rb"<title[^>]*>(.*?)</title>", raw, re.I | re.S)
    return " ".join(unescape(found.group(1).decode()).split()) if found else ""


def pack(members: dict[str, SamplePage]) -> bytes:
    """Pack the members into a .tar.zst: sorted, nobody's, the same bytes each time."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(members):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(members[name].body), members[name].mtime
            tar.addfile(info, io.BytesIO(members[name].body))
    parameters = zstandard.ZstdCompressionParameters.from_level(22, window_log=23)
    return zstandard.ZstdCompressor(compression_params=parameters).compress(plain.getvalue())


def notice(recipe: Recipe, debs: dict[str, Path], kept: dict[str, list[str]]) -> str:
    """Write NOTICE: where each host's pages come from and under which licence they are passed on."""
    head = __doc__.split("give the same bytes.")[1].strip() if __doc__ else ""
    parts = [f"The sample web (sample.tar.zst) is made of pages from Debian's documentation packages.\n\n{head}\n"]
    for host in recipe.host:
        package, version = unquote(debs[host.package].name).split("_")[:2]
        parts.append(
            f"{host.name}\n  pages     {len(kept[host.name])}, a subset\n  upstream  {host.upstream}\n"
            f"  package   {package} {version} (Debian)\n  licence   {host.licence}\n  holders   {host.holders}\n"
        )
    for extra in recipe.extra:
        source = extra.settings.get("mirror_of")
        parts.append(f"{extra.name}\n  {f'the pages of {source}, served again' if source else 'redirects, no pages'}\n")
    parts.append("portal.test\n  one page, written by build_sample.py\n")
    return "\n".join([*parts, (HERE / "sample_licences.txt").read_text("utf-8")])


def main() -> None:
    """Build the archive and NOTICE, and say what they hold."""
    parser = argparse.ArgumentParser(description="build the bundled sample web")
    parser.add_argument("--cache", type=Path, required=True, help="folder for downloaded packages")
    cache = parser.parse_args().cache
    recipe = read_recipe()
    debs = {host.package: fetch_package(host.package, cache) for host in recipe.host}
    files = {host.name: read_pages(debs[host.package], host.folder) for host in recipe.host}
    kept = {host.name: choose(host, files[host.name]) for host in recipe.host}
    rewriter, members = Rewriter(recipe, files, kept), {}
    for host in recipe.host:
        for path in kept[host.name]:
            members[host.name + path] = SamplePage(rewriter.page(host.name, path), files[host.name][path].mtime)
        members[f"{host.name}/_site.toml"] = SamplePage(write_toml({"front": host.front, **host.settings}), 0)
    for extra in recipe.extra:
        members[f"{extra.name}/_site.toml"] = SamplePage(write_toml(extra.settings), 0)
    newest = max(page.mtime for page in members.values())
    titles = {host.name: title_of(files[host.name][host.front].body) for host in recipe.host}
    members["portal.test/index.html"] = SamplePage(portal(recipe, titles, old_addresses(recipe, kept)), newest)
    archive = pack(members)
    assert len(archive) <= LARGEST_BYTES, len(archive)
    (DEMO / "sample.tar.zst").write_bytes(archive)
    (DEMO / "NOTICE").write_text(notice(recipe, debs, kept), "utf-8")
    print({host: len(paths) for host, paths in kept.items()}, dict(rewriter.counts))
    pages, plain = sum(map(len, kept.values())) + 1, sum(len(page.body) for page in members.values())
    print(f"{pages} pages, {plain} bytes, packed {len(archive)}")


if __name__ == "__main__":
    main()
