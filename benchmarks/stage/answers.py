"""A server that answers as fast as Python can, so that what is measured is who asks: `GET /quote/A,B`, `GET /large`.

`/quote/…` is a JSON array with a row of about 1 KB for each key, whose price is never the same twice; `/large` is one
row of 500 KB. Every answer waits for what `--delay` says. It prints the port it listens on.
"""

import argparse
import asyncio
import itertools
import time
from typing import cast

import uvloop

ROW_BYTES = 1_000
LARGE_BYTES = 500_000
_TEXT = "A company whose description is as long as such descriptions are, and says as little. " * 12


class Answers(asyncio.Protocol):
    """One connection; requests have no body and may come in pieces."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._rest = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._rest += data
        while (end := self._rest.find(b"\r\n\r\n")) >= 0:
            path, self._rest = self._rest.split(b" ", 2)[1], self._rest[end + 4 :]
            if self._delay:
                asyncio.get_running_loop().call_later(self._delay, self._answer, path)
            else:
                self._answer(path)

    def _answer(self, path: bytes) -> None:
        body = _body(path.partition(b"?")[0].rpartition(b"/")[2].decode())
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
            )


_NUMBERS = itertools.count(1)


def _body(keys: str) -> bytes:
    return f"[{','.join(_row(key) for key in keys.split(','))}]".encode()


def _row(key: str) -> str:
    number = next(_NUMBERS)
    head = (
        f'{{"symbol":"{key}","price":{number / 100},"volume":{number},"exchange":"XNAS","timestamp":{int(time.time())},'
    )
    size = LARGE_BYTES if key.startswith("LARGE") else ROW_BYTES
    text = _TEXT * (size // len(_TEXT) + 1)
    return f'{head}"description":"{text[: size - len(head) - 20]}"}}'


async def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--delay", type=float, default=0.0)
    delay = asked.parse_args().delay
    server = await asyncio.get_running_loop().create_server(lambda: Answers(delay), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
