"""Bodies as they were before the server compressed them, piece by piece and never more than asked for.

gzip and deflate are taken; others are not asked for, because their libraries cannot stop in the middle of a piece,
which is where a few kilobytes become gigabytes.
"""

import zlib
from collections.abc import Iterator
from typing import Protocol

ACCEPTED = "gzip, deflate"
_PIECE = 65_536
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


class _Inflater:
    """zlib, gzip (also of several members), and the bare deflate that some servers mean by `deflate`."""

    def __init__(self, *, bare_allowed: bool) -> None:
        self._bare_allowed = bare_allowed
        self._inflate = zlib.decompressobj(_ZLIB_OR_GZIP)
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        more = bool(data)
        while more:
            if self._inflate.eof:
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


def decoder_for(encoding: str) -> Decoder:
    """By a `Content-Encoding`; `Undecodable` for one that was not asked for."""
    match encoding.strip().lower():
        case "" | "identity":
            return _Plain()
        case "gzip" | "x-gzip":
            return _Inflater(bare_allowed=False)
        case "deflate":
            return _Inflater(bare_allowed=True)
        case other:
            raise Undecodable(f"{other[:40]!r} was not asked for")
