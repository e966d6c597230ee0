"""Assembles a local web of real pages from Debian's documentation packages.

    python -m benchmarks.crawl.build_web --cache CACHE --out DIR --tier small|medium|large

Packages are fetched by name with `apt-get download` (whatever registry apt is
set up for), read with dpkg-deb, and turned into virtual hosts `NAME.test`.
A tier keeps N pages in all, taken from every host in equal measure in the
order a breadth-first crawl from its front page meets them.  Links that would
only be dead because the tier left a page or file out are unlinked (data-cut);
links to pages that the package itself lacks stay dead.  Well-known absolute links (ALIASES) are
pointed at the local host that carries the same pages.  Writes DIR/HOST/...,
DIR/HOST/_site.toml (behaviour, see `node/extras/demo/sample_settings.py`), DIR/manifest.json and
DIR/links.tsv.gz (source<TAB>target, the page graph).
"""

import argparse
import contextlib
import gzip
import json
import os
import posixpath
import re
import subprocess
import sys
import tarfile
from collections import Counter, deque
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit
from zlib import crc32

# pages in all, most bytes a page, hosts (None = all)
TIERS = {"small": (1500, 60_000, 110), "medium": (10_000, 300_000, None), "large": (60_000, 1_500_000, None)}
PORT = 8800
HOSTS = Path(__file__).with_name("web_hosts.txt")
# well-known absolute prefix -> local host and path prefix; a page the tier lacks leads to the front page
ALIASES = Path(__file__).with_name("web_aliases.txt").read_text("utf-8")
PAGE = re.compile(r"\.x?html?$", re.I)
LINK = re.compile(rb"""(<(?:a|area|frame|iframe)\s[^>]*?)\b(href|src)(\s*=\s*)("[^"]*"|'[^']*')""", re.I)
BASE = re.compile(rb"""<base\s[^>]*?href\s*=\s*["']([^"']+)["']""", re.I)
TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.I | re.S)


def run_apt(packages, cache):
    """Fetch the packages that the cache lacks; names apt does not know are reported and left out."""
    have = {p.name.split("_")[0] for p in cache.glob("*.deb")}
    missing = sorted(set(packages) - have)
    for start in range(0, len(missing), 40):
        batch = missing[start : start + 40]
        if subprocess.run(["apt-get", "download", "-q", *batch], cwd=cache, capture_output=True).returncode:
            for name in batch:  # one unknown name fails a whole batch
                if subprocess.run(["apt-get", "download", "-q", name], cwd=cache, capture_output=True).returncode:
                    print("not available:", name, file=sys.stderr)


def unpack(job):
    """Copy a package's pages (and a few small images and PDFs) under each wanted folder into the cache."""
    deb, folder, out = job
    if (out / ".done").exists():
        return
    spare = {".png": 6, ".gif": 3, ".jpg": 3, ".pdf": 2}
    feed = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=subprocess.PIPE)
    links = []
    with tarfile.open(fileobj=feed.stdout, mode="r|") as tar:
        for m in tar:
            name = posixpath.normpath(m.name)
            if not name.startswith(folder + "/"):
                continue
            rel, ext = name[len(folder) + 1 :], posixpath.splitext(name)[1].lower()
            if m.issym() and PAGE.search(rel):
                links.append((rel, posixpath.normpath(posixpath.join(posixpath.dirname(rel), m.linkname))))
            if not m.isfile() or not (PAGE.search(rel) or (spare.get(ext) and m.size < 400_000)):
                continue
            if ext in spare:
                spare[ext] -= 1
            (out / rel).parent.mkdir(parents=True, exist_ok=True)
            (out / rel).write_bytes(tar.extractfile(m).read())
    for rel, target in links:
        if (out / target).is_file() and not (out / rel).exists():
            (out / rel).parent.mkdir(parents=True, exist_ok=True)
            (out / rel).write_bytes((out / target).read_bytes())
    feed.wait()
    out.mkdir(parents=True, exist_ok=True)
    (out / ".done").touch()


def to_utf8(raw):
    """Return a page as UTF-8 (the serving side re-encodes it where a host's settings say so)."""
    try:
        raw.decode("utf-8")
        return raw
    except UnicodeDecodeError:
        named = re.search(rb"charset\s*=\s*[\"']?([-\w]+)", raw[:3000], re.I)
        code = named.group(1).decode() if named else "iso-8859-1"
        try:
            text = raw.decode(code, "replace")
        except LookupError:
            text = raw.decode("iso-8859-1")
        return re.sub(rb"(charset\s*=\s*[\"']?)[-\w]+", rb"\g<1>utf-8", text.encode(), count=1)


def targets(raw, path):
    """Return the pages of its own host that a page links to, in order."""
    base = BASE.search(raw[:4000])
    base = (
        urljoin("http://h" + quote(path), base.group(1).decode("utf-8", "replace"))
        if base
        else "http://h" + quote(path)
    )
    found = []
    for m in LINK.finditer(raw):
        url = m.group(4)[1:-1].decode("utf-8", "replace").strip()
        if (
            url
            and url[0] != "#"
            and ("://" not in url and not url.startswith(("javascript:", "mailto:", "//", "data:")))
        ):
            with contextlib.suppress(ValueError):
                found.append(unquote(urlsplit(urljoin(base, url)).path))
    return found, base


def pages_of(root):
    """Return the pages below a folder: path -> file."""
    pages = {}
    for d, _, files in os.walk(root):
        for f in files:
            if PAGE.search(f):
                full = os.path.join(d, f)
                pages["/" + os.path.relpath(full, root)] = full
    return pages


def order_host(job):
    """Return (host, pages in breadth-first order, how many of them the front page reaches, front).

    Of the first `enough` pages the links are read; what they do not lead to follows by its name."""
    host, root, enough = job
    pages = pages_of(root)
    if not pages:
        return host, [], 0, ""

    def rank(p):  # the likeliest front page
        name = posixpath.basename(p).lower()
        return (
            not name.startswith(("index.", "main0000", "toc", "contents", "book", "manual", "overview")),
            not name.startswith("index."),
            p.count("/"),
            "/en/" not in p,
            len(p),
            p,
        )

    front = min(pages, key=rank)
    shared = [p for p in ("/zh-CN/text/shared/05/new_help.html",) if p in pages]
    front = shared[0] if shared else front
    order, seen, queue = [], {front}, deque([front])
    reached = 0
    rest = iter(sorted(pages, key=rank))
    while True:
        while queue:
            path = queue.popleft()
            order.append(path)
            if len(order) > enough:
                continue
            try:
                raw = Path(pages[path]).read_bytes()[:600_000]
            except OSError:
                continue
            for t in targets(raw, path)[0]:
                t = t if t in pages else t.rstrip("/") + "/index.html"
                if t in pages and t not in seen:
                    seen.add(t)
                    queue.append(t)
        reached = reached or len(order)
        start = next((p for p in rest if p not in seen), None)
        if start is None:
            return host, order, reached, front
        seen.add(start)
        queue.append(start)


def fill(sizes, total):
    """Return the cap c for which min(size, c) over all hosts sums to about `total`."""
    low, high = 1, max(sizes)
    while low < high:
        mid = (low + high + 1) // 2
        low, high = (mid, high) if sum(min(s, mid) for s in sizes) <= total else (low, mid - 1)
    return low


REWRITER = None  # set before the writers are forked


class Rewriter:
    """Rewrites one host's pages for a tier."""

    def __init__(self, kept, existing, fronts, assets):
        self.kept, self.existing, self.fronts, self.assets = kept, existing, fronts, assets
        rows = [r.split() for r in ALIASES.replace("\n", "|").split("|") if r.strip()]
        self.aliases = sorted(
            ((a, h + ".test", p) for a, h, p in rows if h + ".test" in kept), key=lambda r: -len(r[0])
        )

    def outside(self, url):
        """Return (local URL, host, path) for a well-known absolute URL, or None."""
        bare = url.split("://", 1)[1]
        for prefix, host, mount in self.aliases:
            if bare == prefix or bare.startswith((prefix + "/", prefix + "#", prefix + "?")):
                tail, _, anchor = bare[len(prefix) :].partition("#")
                path = unquote(posixpath.normpath(mount + "/" + tail.split("?")[0]))
                path = path if path.startswith("/") else "/" + path
                for p in (path, path.rstrip("/") + "/index.html", path + ".html"):
                    if p.replace("//", "/") in self.kept[host]:
                        return (
                            f"http://{host}:{PORT}{quote(p.replace('//', '/'))}" + ("#" + anchor if anchor else ""),
                            host,
                            p.replace("//", "/"),
                        )
                return f"http://{host}:{PORT}/", host, self.fronts[host]
        return None

    def page(self, host, path, raw):
        """Return (new bytes, [(host, path) linked to], counts) of a page."""
        out, counts, base = [], Counter(), targets(b"", path)[1]
        found = BASE.search(raw[:4000])
        base = urljoin(base, found.group(1).decode("utf-8", "replace")) if found else base

        def change(m):
            url = m.group(4)[1:-1].decode("utf-8", "replace").strip()
            if url.startswith(("http://", "https://")):
                hit = self.outside(url)
                if not hit:
                    counts["external"] += 1
                    return m.group(0)
                counts["cross"] += 1
                out.append(hit[1:])
                return m.group(1) + m.group(2) + m.group(3) + b'"' + hit[0].encode() + b'"'
            if not url or url[0] == "#" or ":" in url.split("/")[0] or url.startswith("//"):
                return m.group(0)
            try:
                target = unquote(urlsplit(urljoin(base, url)).path)
            except ValueError:
                return m.group(0)
            if not PAGE.search(target):
                target = target.rstrip("/") + "/index.html" if not posixpath.splitext(target)[1] else target
            if target in self.kept[host]:
                counts["internal"] += 1
                out.append((host, target))
            elif target in self.existing[host] or not (PAGE.search(target) or target in self.assets[host]):
                counts["cut"] += 1
                return m.group(1) + b"data-cut" + m.group(3) + m.group(4)
            else:
                counts["dead" if PAGE.search(target) else "files"] += 1
            return m.group(0)

        return LINK.sub(change, raw), out, counts


def write_host(job):
    """Write one host's pages; return its links, counts, bytes and page languages."""
    host, lang, root, out, order = job
    links, counts, size, langs, titles = [], Counter(), 0, Counter(), None
    for path in order:
        raw = to_utf8((root / path[1:]).read_bytes())
        raw, targets_, c = REWRITER.page(host, path, raw)
        counts.update(c)
        links += [(host, path, h, p) for h, p in dict.fromkeys(targets_)]
        (out / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        (out / path[1:]).write_bytes(raw)
        size += len(raw)
        titles = titles or TITLE.search(raw)
        part = re.search(
            r"/(ja|fr|de|es|ko|tr|da|en|zh[-_]..|it|ru|pt[-_]..)(?:_..)?(?=/|\.)|\.(ja|fr|de|es|it|pl|ro|ca|en|pt_BR)\.html",
            path,
        )
        langs[
            (lang if lang != "mul" else (part.group(1) or part.group(2) if part else "en"))
            .lower()
            .replace("_", "-")[:2]
        ] += 1
    for extra in REWRITER.assets[host]:
        (out / extra[1:]).parent.mkdir(parents=True, exist_ok=True)
        (out / extra[1:]).write_bytes((root / extra[1:]).read_bytes())
    title = re.sub(r"\s+", " ", titles.group(1).decode("utf-8", "replace")).strip() if titles else host
    return host, links, counts, size, langs, title


def toml(settings):
    """Write a flat TOML table."""
    return "".join(f"{k} = {json.dumps(v, ensure_ascii=False)}\n" for k, v in settings.items())


def behaviours(hosts):
    """Choose the settings of each host: a default for all, then the odd ones."""
    every = {"robots": "User-agent: *\nDisallow: /search\n", "sitemap": True}
    table = {h: dict(every) for h in hosts}

    def put(name, **settings):
        if name + ".test" in table:
            table[name + ".test"].update(settings)

    put("docs.djangoproject", robots="User-agent: *\nCrawl-delay: 1\nDisallow: /_modules/\n", latency_ms=[80, 0.8])
    put("www.kernel", robots="User-agent: *\nCrawl-delay: 2\n", latency_ms=[150, 1.0], feed=True)
    put("www.postgresql", rate_limit=5.0, retry_after=2)
    put("docs.oracle", robots="User-agent: *\nDisallow: /\n\nUser-agent: goodbot\nAllow: /\n")
    put("nodejs", robots_status=404)
    put("www.exim", robots_status=503)
    put("bind9.isc", robots_status=403)
    put("docs.celeryq", error_rate=0.05, error_status=[500, 503, 429], retry_after=3, latency_ms=[40, 0.7])
    put("docs.twisted", error_rate=0.2, error_status=[500, 502, 503], latency_ms=[400, 1.0])
    put("zh-cn.reference.debian", charset="gbk")
    put("zh-cn.maint-guide.debian", charset="gb18030", charset_header="")
    put("zh-tw.reference.debian", charset="big5")
    put("zh-tw.maint-guide.debian", charset="big5", charset_header="utf-8")
    put("de.developers.debian", charset="iso-8859-1")
    put("fr.faq.debian", charset="iso-8859-15", charset_header="utf-8")
    put("ru.faq.debian", charset="koi8-r", charset_header="")
    put("ja.faq.debian", charset="shift_jis")
    put("ja.maint-guide.debian", charset="euc-jp", charset_header="")
    put("ko.faq.debian", charset="euc-kr")
    put("borgbackup", compress=[])
    put("scons", compress=["br"], validators=[])
    put(
        "git-scm",
        redirects=[
            ["/docs/*", "/*", 301],
            ["/old/*", "/docs/*", 302],
            ["/latest", "/index.html", 308],
            ["/loop/a", "/loop/b", 302],
            ["/loop/b", "/loop/a", 302],
            ["/self", "/self", 301],
        ],
        nofollow_links=["/loop/a", "/old/git.html"],
    )
    put("www.pygame", traps=["calendar", "login"], dead_links=1)
    put("www.povray", traps=["hatchline"])
    put("imagemagick", traps=["facets"])
    put("gnuplot", traps=["huge", "drip", "bomb"])
    put("rdflib", session_ids=True)
    put("docs.buildbot", date_line=True)
    put("www.sqlite", churn_per_hour=4.0, churn_share=0.5, feed=True)
    put("en.reference.debian", churn_per_hour=2.0)
    put("docs.pytest", vanish_per_hour=1.0, vanish_share=0.3, vanish_status=410)
    put("docs.snakemake", vanish_per_hour=2.0, vanish_share=0.3)
    put("tldp", noindex_share=0.1, nofollow_share=0.1, dead_links=2)
    put("shorewall", nofollow_links=["/index.htm", "/FAQ.html"], validators=["last-modified"])
    table["mirror.python.test"] = {**every, "mirror_of": "docs.python.test"}
    table["old-docs.python.test"] = {**every, "mirror_of": "docs.python.test", "date_line": True}
    table["cdn.sqlite.test"] = {**every, "mirror_of": "www.sqlite.test", "canonical": f"www.sqlite.test:{PORT}"}
    table["python.test"] = {"redirects": [["/*", f"http://docs.python.test:{PORT}/*", 301]]}
    return table


def main():
    """Build one tier."""
    p = argparse.ArgumentParser()
    p.add_argument("--cache", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--tier", choices=TIERS, default="small")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    args = p.parse_args()
    total, biggest, most = TIERS[args.tier]
    rows = [[c.strip() for c in line.split("|")] for line in HOSTS.read_text("utf-8").splitlines()[1:]]
    (args.cache / "debs").mkdir(parents=True, exist_ok=True)
    run_apt([r[2] for r in rows], args.cache / "debs")
    debs = {d.name.split("_")[0]: d for d in (args.cache / "debs").glob("*.deb")}
    rows = [r for r in rows if r[2] in debs]
    with ProcessPoolExecutor(args.jobs) as pool:
        list(pool.map(unpack, [(debs[k], f, args.cache / "pages" / k / f) for k, f in {(r[2], r[3]) for r in rows}]))
        roots, langs, packages = {}, {}, {}
        for host, lang, package, folder in rows:
            base = args.cache / "pages" / package / folder
            for sub in sorted(x for x in base.iterdir() if x.is_dir()) if "{}" in host else [base]:
                code = sub.name.lower().replace("_", "-") if "{}" in host else lang
                name = host.replace("{}", code) + ".test"
                roots[name], langs[name], packages[name] = sub, code if lang != "mul" else lang, package
        enough = 2 * fill([len(pages_of(root)) for root in roots.values()], total)  # some are too large
        print(len(roots), "hosts; ordering", flush=True)
        orders, reach, fronts, existing = {}, {}, {}, {}
        cached = args.cache / f"orders-{enough}.json"
        known = json.loads(cached.read_text()) if cached.exists() else {}
        todo = [(h, str(r), enough) for h, r in roots.items() if h not in known]
        for host, order, reached, front in pool.map(order_host, todo, chunksize=1):
            known[host] = [order, reached, front]
        cached.write_text(json.dumps(known))
        for host in roots:
            order, reached, front = known[host]
            good = [q for q in order if q == front or (roots[host] / q[1:]).stat().st_size <= biggest]
            if good:
                orders[host], reach[host], fronts[host], existing[host] = good, reached, front, set(order)
        if most:  # the hosts with odd behaviour, then Chinese ones, then a fixed mix
            table = behaviours(orders)
            odd = {h for h, v in table.items() if v != behaviours(["x"])["x"]} | {
                v.get("mirror_of") for v in table.values()
            }
            chosen = sorted(orders, key=lambda h: (h not in odd, not langs[h].startswith("zh"), crc32(h.encode())))[
                :most
            ]
            orders = {h: orders[h] for h in sorted(chosen)}
        cap = fill([len(o) for o in orders.values()], total)
        kept = {h: dict.fromkeys(o[:cap]) for h, o in orders.items()}
        print(f"{len(kept)} hosts, at most {cap} pages each; writing", flush=True)
        global REWRITER
        few, largest = (3, 30_000) if args.tier == "small" else (12, 400_000)
        assets = {
            h: sorted(
                "/" + str(x.relative_to(roots[h]))
                for x in roots[h].rglob("*")
                if x.is_file() and x.suffix.lower() in (".png", ".gif", ".jpg", ".pdf") and x.stat().st_size <= largest
            )[:few]
            for h in kept
        }
        REWRITER = Rewriter(kept, existing, fronts, assets)
        jobs = [(h, langs[h], roots[h], args.out / h, list(kept[h])) for h in kept]
        args.out.mkdir(parents=True, exist_ok=True)
        links, counts, size, spoken, titles = [], Counter(), {}, Counter(), {}
    with ProcessPoolExecutor(args.jobs, get_context("fork")) as pool:  # forked now, so that they share REWRITER
        for host, found, c, n, spoke, title in pool.map(write_host, jobs):
            links += found
            counts.update(c)
            spoken.update(spoke)
            size[host], titles[host] = n, title
    for host, settings in behaviours(kept).items():
        if host in fronts:
            settings = {"front": fronts[host], **settings}
        if settings.get("mirror_of", host) in kept or "redirects" in settings:
            (args.out / host).mkdir(exist_ok=True)
            (args.out / host / "_site.toml").write_text(toml(settings), "utf-8")
    portal = args.out / "portal.test"
    portal.mkdir(exist_ok=True)
    names = sorted(x.name for x in args.out.iterdir() if x.is_dir() and x.name != "portal.test")
    portal.joinpath("index.html").write_text(
        "<!doctype html><meta charset=utf-8><title>Directory</title><ul>"
        + "".join(f'<li><a href="http://{n}:{PORT}/">{titles.get(n, n)}</a></li>\n' for n in names)
        + "</ul>",
        "utf-8",
    )
    with gzip.open(args.out / "links.tsv.gz", "wt", encoding="utf-8") as f:
        f.writelines(f"{a}{b}\t{c}{d}\n" for a, b, c, d in links)
    pages = {h: len(k) for h, k in kept.items()}
    manifest = {
        "tier": args.tier,
        "hosts": len(names) + 1,
        "content_hosts": len(pages),
        "pages": sum(pages.values()),
        "bytes": sum(size.values()),
        "links": dict(counts),
        "page_graph_edges": len(links),
        "largest_host_share": max(pages.values()) / sum(pages.values()),
        "pages_by_language": dict(spoken.most_common()),
        "reachable_from_fronts": sum(min(reach[h], pages[h]) for h in pages),
        "debs": {packages[h]: debs[packages[h]].name for h in pages},
        "by_host": {
            h: {
                "pages": pages[h],
                "bytes": size[h],
                "lang": langs[h],
                "available": len(existing[h]),
                "package": packages[h],
            }
            for h in pages
        },
    }
    (args.out / "manifest.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False), "utf-8")
    print(json.dumps({k: v for k, v in manifest.items() if k not in ("debs", "by_host")}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
