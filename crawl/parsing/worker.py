"""Runs inside a parser process: reads tasks, parses, and answers in order. Only `pipe.py` starts it, and `inline.py`
uses the parsing alone. It loads no asyncio, whose 2 MB a process that only reads and writes does not need.

Frames on stdin and stdout: a 4-byte big-endian length, then msgpack. The first frame out is empty: ready. The process
protects the machine from itself: bounded memory, and an alarm that ends it if nobody watches any more.
"""

import ctypes
import gc
import os
import signal
import sys
from contextlib import suppress
from hashlib import sha256
from typing import BinaryIO

import msgspec
from msgspec.structs import replace

from crawl.content.extract import extract
from crawl.content.page import LENGTH_BYTES, ParseResult, ParserReply, ParseTask, too_large
from crawl.errors import BodyUnfit, PageUnreadable
from crawl.fetch.content_codings import BadCoding, decode_body
from crawl.fetch.response import OFFICE_TYPES, broken_coding, type_flaw

_ORPHAN_FACTOR = 3.0  # the node kills a stalled process long before its own alarm does
_KEPT_BYTES = 33_554_432  # of memory that a page gave back, for the next one; a page of the largest size takes more
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of mallopt(3)
_FEW_COLLECTIONS = 50_000  # new objects: a page makes a thousand, nearly all without cycles


def main() -> None:
    """Serve tasks until stdin ends. Arguments: seconds that a page may take, and bytes of address space."""
    stall_s, memory_bytes = float(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the node, which closes our stdin
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not break the frames
    _limit_memory(memory_bytes)
    _keep_memory()
    _send(sink, b"")
    decoder, encoder = msgspec.msgpack.Decoder(ParseTask), msgspec.msgpack.Encoder()
    while (frame := _receive(source)) is not None:
        _alarm(stall_s * _ORPHAN_FACTOR)
        _send(sink, encoder.encode(_answer(decoder.decode(frame))))
        _alarm(0.0)


def _answer(task: ParseTask) -> ParserReply:
    try:
        return ParserReply(parse_once(task))
    except PageUnreadable as error:
        return ParserReply(None, error.reason, isinstance(error, BodyUnfit))


def parse_once(task: ParseTask) -> ParseResult:
    """Parse one page at once; raises BodyUnfit, or PageUnreadable where the engine failed."""
    body = _opened(task) if task.coding else task.body
    if flaw := type_flaw(task.media_type, task.header_charset, body):
        raise BodyUnfit(task.url, flaw)
    try:
        parsed = _extract(replace(task, body=body) if task.coding else task)
    except BodyUnfit:
        raise
    except Exception as error:  # one crawled page: it may break a parser in any way
        raise PageUnreadable(task.url, f"parser: {type(error).__name__}: {str(error)[:100]}") from error
    content = body if task.coding else b""
    return replace(parsed, content=content, content_digest=sha256(body).digest())


def _extract(task: ParseTask) -> ParseResult:
    if task.media_type in OFFICE_TYPES:
        from crawl.office.extract_office import extract_office  # 2 MB with lxml, for one page in thousands

        return extract_office(task)
    return extract(task)


def _opened(task: ParseTask) -> bytes:
    try:
        body, is_cut = decode_body(task.body, task.coding, task.max_bytes)
    except BadCoding as error:
        raise BodyUnfit(task.url, broken_coding(error)) from error
    if is_cut:
        raise BodyUnfit(task.url, too_large(task.max_bytes))
    return body


def _receive(source: BinaryIO) -> bytes | None:
    """Read the next frame; None at the end."""
    head = source.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    size = int.from_bytes(head, "big")
    frame = source.read(size)
    return frame if len(frame) == size else None


def _send(sink: BinaryIO, frame: bytes) -> None:
    sink.write(len(frame).to_bytes(LENGTH_BYTES, "big") + frame)
    sink.flush()


def _alarm(seconds: float) -> None:
    """End this process after so long, even inside a parser's C code: the signal's default action needs no Python."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit_memory(size: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    bound = size if most == resource.RLIM_INFINITY else min(size, most)
    resource.setrlimit(resource.RLIMIT_AS, (bound, most))


def _keep_memory() -> None:
    """Keep the memory that a page frees for the next one. Else the system takes it back and clears it again, which
    costs 25 page faults each time and 6 % of all CPU. Garbage collections leave out shared objects, and are rare."""
    with suppress(OSError, AttributeError, TypeError):  # another C library: all goes on as it is
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        libc.mallopt(_M_MMAP_THRESHOLD, _KEPT_BYTES // 4)
    gc.freeze()
    gc.set_threshold(_FEW_COLLECTIONS)
