"""A real Chromium without a window, driven over its debugging protocol: what a person would see of a page.

It has a profile of its own in a folder that is removed, and talks to this machine only.
"""

import asyncio
import base64
import itertools
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from pydantic_core import from_json, to_json

from livewell.testing.requirements import require

_PATIENCE = 30.0
_OPTIONS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-port=0",
    "about:blank",
)


class Page:
    """One tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._listening = asyncio.create_task(self._listen())
        # What the page logged as errors, and what it could not do.
        self.faults: list[str] = []

    async def tell(self, method: str, **parameters: Any) -> Any:
        """One command of the protocol, and its answer."""
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_str(to_json({"id": number, "method": method, "params": parameters}).decode())
        async with asyncio.timeout(_PATIENCE):
            return await self._answers[number]

    async def open(self, url: str) -> None:
        await self.tell("Page.enable")
        await self.tell("Runtime.enable")
        await self.tell("Log.enable")
        await self.tell("Network.enable")
        await self.tell("Page.navigate", url=url)

    async def ask(self, expression: str) -> Any:
        """What an expression is on the page; a promise is waited for."""
        answer = await self.tell("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    async def until(self, expression: str, what: str) -> Any:
        """What an expression is, as soon as it is true."""
        try:
            async with asyncio.timeout(_PATIENCE):
                while not (value := await self.ask(expression)):
                    await self.ask("new Promise((resolve) => setTimeout(resolve, 20))")
        except TimeoutError:
            raise AssertionError(f"waited in vain until {what}; faults of the page: {self.faults}") from None
        return value

    async def cut_network(self, *, offline: bool) -> None:
        await self.tell(
            "Network.emulateNetworkConditions", offline=offline, latency=0, downloadThroughput=-1, uploadThroughput=-1
        )

    async def hide(self) -> None:
        """Minimise the window: the page is hidden, as behind another tab."""
        await self._set_window("minimized")

    async def show(self) -> None:
        await self._set_window("normal")

    async def _set_window(self, state: str) -> None:
        window = await self.tell("Browser.getWindowForTarget")
        await self.tell("Browser.setWindowBounds", windowId=window["windowId"], bounds={"windowState": state})

    async def picture(self, path: Path, *, width: int, height: int, dark: bool = False) -> None:
        """A picture of the page as a screen of this size shows it."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.tell("Emulation.setEmulatedMedia", features=[scheme])
        await self.tell(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        shot = await self.tell("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shot["data"]))

    async def _listen(self) -> None:
        async for message in self._socket:
            told = from_json(message.data)
            if (waiting := self._answers.pop(told.get("id", 0), None)) is not None:
                if "error" in told:
                    waiting.set_exception(AssertionError(told["error"]))
                else:
                    waiting.set_result(told["result"])
            elif told.get("method") == "Runtime.exceptionThrown":
                self.faults.append(str(told["params"]["exceptionDetails"]))
            elif told.get("method") == "Log.entryAdded" and told["params"]["entry"]["level"] == "error":
                self.faults.append(str(told["params"]["entry"]))

    async def stop(self) -> None:
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)


class Browser:
    """A Chromium; each page is a tab of its own."""

    def __init__(self, http: aiohttp.ClientSession, address: str) -> None:
        self._http = http
        self._address = address

    @asynccontextmanager
    async def page(self, url: str) -> AsyncIterator[Page]:
        """A tab with a page in it; closed at the end."""
        async with self._http.put(f"{self._address}/json/new?about:blank") as answer:
            target = await answer.json(content_type=None)
        async with self._http.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
            page = Page(socket)
            try:
                await page.open(url)
                yield page
            finally:
                await page.stop()
        async with self._http.get(f"{self._address}/json/close/{target['id']}"):
            pass


@asynccontextmanager
async def browser() -> AsyncIterator[Browser]:
    """A browser for the length of a block; skipped by name where there is none."""
    program = require("chromium")
    folder = Path(tempfile.mkdtemp(prefix="livewell-browser-"))
    as_root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    process = await asyncio.create_subprocess_exec(
        program, f"--user-data-dir={folder}", *as_root, *_OPTIONS, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(_PATIENCE):
            while b"DevTools listening on" not in (line := await process.stderr.readline()):
                if not line:
                    raise AssertionError("the browser ended")
        address = "http://" + line.decode().split("ws://")[1].split("/")[0]
        draining = asyncio.create_task(_drain(process.stderr))
        async with aiohttp.ClientSession() as http:
            yield Browser(http, address)
        draining.cancel()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
        shutil.rmtree(folder, ignore_errors=True)


async def _drain(stream: asyncio.StreamReader) -> None:
    while await stream.readline():
        pass
