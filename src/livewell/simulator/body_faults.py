"""Faults in the body of an answer: text that is no JSON, JSON that no parser should be given, and what is too large."""

import gzip
import zlib
from functools import lru_cache
from itertools import repeat

from livewell.simulator.faults import Fault, FaultKind

MEGABYTE = 1 << 20

_PAGE = b"<!doctype html><html><head><title>Sorry</title></head><body><h1>We will be right back</h1></body></html>"
_ROW = b'{"symbol":"AAPL","price":1.0},'
_BLANKS = b" " * 50_000
_CONSTANT = {
    FaultKind.EMPTY: b"",
    FaultKind.EMPTY_LIST: b"[]",
    FaultKind.EMPTY_OBJECT: b"{}",
    FaultKind.NULL: b"null",
    FaultKind.ERROR_OBJECT: b'{"Error Message":"Limit reach. Please upgrade your plan."}',
    FaultKind.HTML: _PAGE,
}


def spoiled_body(body: bytes, fault: Fault) -> tuple[bytes, ...]:
    """The body with the fault in it, in pieces; as it is when the fault is not one of bodies."""
    if fault.kind in _CONSTANT:
        return (_CONSTANT[fault.kind],)
    match fault.kind:
        case FaultKind.NESTED:
            depth = fault.size or 100_000
            return (b"[" * depth + b"]" * depth,)
        case FaultKind.LARGE:
            return large_body(fault.size or 64 * MEGABYTE)
        case FaultKind.DENSE:
            return dense_body(fault.size or 10 * MEGABYTE)
        case FaultKind.TINY_CHUNKS:
            return (body, *repeat(_BLANKS, (fault.size or 5_000_000) // len(_BLANKS)))
        case FaultKind.BOMB:
            return (bomb(fault.size or 256 * MEGABYTE),)
        case FaultKind.EMPTY_MEMBERS:
            empty = gzip.compress(b"", mtime=0)
            return (empty * ((fault.size or 8 * MEGABYTE) // len(empty)), gzip.compress(body, mtime=0))
    return (_spoiled_text(body, fault.kind),)


def _spoiled_text(body: bytes, kind: FaultKind) -> bytes:
    match kind:
        case FaultKind.TRUNCATED:
            return body[: len(body) * 2 // 3]
        case FaultKind.BOM:
            return b"\xef\xbb\xbf" + body
        case FaultKind.INVALID_UTF8:
            return body.replace(b'":"', b'":"\xff', 1)
        case FaultKind.NAN:
            return _with_number(body, b"NaN")
        case FaultKind.INFINITY:
            return _with_number(body, b"Infinity")
        case FaultKind.BAD_GZIP:
            return b"\x1f\x8b\x08\x00" + body
    return body


def large_body(size: int) -> tuple[bytes, ...]:
    """An array of about so many bytes, of pieces that share their memory."""
    piece = _ROW * (MEGABYTE // len(_ROW))
    return (b"[", *repeat(piece, max(1, size // len(piece))), _ROW[:-1], b"]")


def dense_body(size: int) -> tuple[bytes, ...]:
    """An array of about so many bytes with hardly anything but structure in it."""
    piece = b"[[[]]]," * (MEGABYTE // 7)
    return (b"[", *repeat(piece, max(1, size // len(piece))), b"[]]")


@lru_cache(maxsize=4)
def bomb(size: int) -> bytes:
    """A gzip body that opens to an array of nothing but blanks, of so many bytes.

    A block that was flushed stands for itself, so that it can be repeated without compressing it again.
    """
    blanks = b" " * MEGABYTE
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    first = packer.compress(b"[") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(blanks) + packer.flush(zlib.Z_FULL_FLUSH)
    last = packer.compress(b"]") + packer.flush(zlib.Z_FINISH)
    times = max(1, size // MEGABYTE)
    check = zlib.crc32(b"[")
    for _ in range(times):
        check = zlib.crc32(blanks, check)
    check = zlib.crc32(b"]", check)
    trailer = check.to_bytes(4, "little") + ((times * MEGABYTE + 2) & 0xFFFFFFFF).to_bytes(4, "little")
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff" + first + block * times + last + trailer


def _with_number(body: bytes, word: bytes) -> bytes:
    """The body with its first number, after its first colon before a digit, replaced by a word."""
    for at in range(len(body) - 1):
        if body[at : at + 1] == b":" and body[at + 1 : at + 2] in b"-0123456789":
            end = at + 1
            while body[end : end + 1] not in b",}]":
                end += 1
            return body[: at + 1] + word + body[end:]
    return body
