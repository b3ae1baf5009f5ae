"""Bodies as they were before the server compressed them, piece by piece and never more than asked for.

gzip and deflate are always taken, Brotli and Zstandard where their libraries are installed (extra `encodings`) and can
stop in the middle of a piece, which is where a few kilobytes become gigabytes. What is not taken is not asked for.
"""

import sys
import zlib
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Protocol

_PIECE = 65_536
# As RFC 9659 has it for HTTP: a decoder need not remember more than 8 MB.
_ZSTD_WINDOW = 23
# As many as ten megabytes have in the smallest blocks in use; each needs a decoder of its own.
_MOST_MEMBERS = 1_000
_ZLIB_OR_GZIP = 32 + zlib.MAX_WBITS


class Undecodable(Exception):
    """The body is not compressed the way its headers say."""


class Decoder(Protocol):
    """Turns a body as sent into the body."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The next pieces, each small."""

    def end(self) -> None:
        """Raise `Undecodable` when more should have come."""


class _Plain:
    def feed(self, data: bytes) -> Iterator[bytes]:
        yield data

    def end(self) -> None:
        pass


class _Members:
    """How many compressed bodies follow each other in one body."""

    def __init__(self) -> None:
        self._count = 1

    def next(self) -> None:
        self._count += 1
        if self._count > _MOST_MEMBERS:
            raise Undecodable(f"it has more than {_MOST_MEMBERS:,} parts")


class _Inflater:
    """zlib, gzip (also of several members), and the bare deflate that some servers mean by `deflate`."""

    def __init__(self, *, bare_allowed: bool) -> None:
        self._members = _Members()
        self._bare_allowed = bare_allowed
        self._inflate = zlib.decompressobj(_ZLIB_OR_GZIP)
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        more = bool(data)
        while more:
            if self._inflate.eof:
                self._members.next()
                self._inflate, self._bare_allowed = zlib.decompressobj(_ZLIB_OR_GZIP), False
            piece = self._next(data)
            if self._inflate.eof:
                data = self._inflate.unused_data
                more = bool(data)
            else:
                # A full piece may leave more behind than what it was made of.
                data = self._inflate.unconsumed_tail
                more = bool(data) or len(piece) == _PIECE
            yield piece

    def _next(self, data: bytes) -> bytes:
        try:
            piece = self._inflate.decompress(data, _PIECE)
        except zlib.error as error:
            if self._begun or not self._bare_allowed:
                raise Undecodable(str(error)) from error
            self._inflate, self._bare_allowed = zlib.decompressobj(-zlib.MAX_WBITS), False
            return self._next(data)
        self._begun = True
        return piece

    def end(self) -> None:
        if self._begun and not self._inflate.eof:
            raise Undecodable("it ends in the middle")


class _Unbrotli:
    """Brotli, whose pieces are a little larger than asked for."""

    def __init__(self) -> None:
        self._decode = _BROTLI.Decompressor()
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        more = bool(data)
        self._begun |= more
        while more:
            try:
                piece: bytes = self._decode.process(data, output_buffer_limit=_PIECE)
            except _BROTLI.error as error:
                raise Undecodable(str(error)) from error
            # As above: a full piece may leave more behind, also when all of the data was taken in.
            data, more = (
                b"",
                not self._decode.is_finished() and (len(piece) >= _PIECE or not self._decode.can_accept_more_data()),
            )
            yield piece

    def end(self) -> None:
        if self._begun and not self._decode.is_finished():
            raise Undecodable("it ends in the middle")


class _Unzstd:
    """Zstandard, also of several frames."""

    def __init__(self) -> None:
        self._members = _Members()
        self._decode = self._fresh()
        self._begun = False

    def _fresh(self) -> Any:
        return _ZSTD.ZstdDecompressor(options={_ZSTD.DecompressionParameter.window_log_max: _ZSTD_WINDOW})

    def feed(self, data: bytes) -> Iterator[bytes]:
        more = bool(data)
        self._begun |= more
        while more:
            if self._decode.eof:
                self._members.next()
                self._decode = self._fresh()
            try:
                piece: bytes = self._decode.decompress(data, _PIECE)
            except _ZSTD.ZstdError as error:
                raise Undecodable(str(error)) from error
            data = self._decode.unused_data if self._decode.eof else b""
            more = bool(data) or not (self._decode.eof or self._decode.needs_input)
            yield piece

    def end(self) -> None:
        if self._begun and not self._decode.eof:
            raise Undecodable("it ends in the middle")


def _installed(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        return None


_BROTLI = _installed("brotli")
if not hasattr(getattr(_BROTLI, "Decompressor", None), "can_accept_more_data"):
    _BROTLI = None  # one before 1.2 cannot stop
_ZSTD = _installed("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
ACCEPTED = ", ".join(
    ["gzip", "deflate", *(["br"] if _BROTLI is not None else []), *(["zstd"] if _ZSTD is not None else [])]
)


def decoder_for(encoding: str) -> Decoder:
    """By a `Content-Encoding`; `Undecodable` for one that was not asked for."""
    match encoding.strip().lower():
        case "" | "identity":
            return _Plain()
        case "gzip" | "x-gzip":
            return _Inflater(bare_allowed=False)
        case "deflate":
            return _Inflater(bare_allowed=True)
        case "br" if _BROTLI is not None:
            return _Unbrotli()
        case "zstd" if _ZSTD is not None:
            return _Unzstd()
        case other:
            raise Undecodable(f"{other[:40]!r} was not asked for")
