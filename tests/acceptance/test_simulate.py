"""`livewell simulate` as somebody runs it: by itself, in a process of its own."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.acceptance.command import PATIENCE, Cli, Running


async def line(process: Running) -> dict[str, Any]:
    """The next document it prints."""
    assert process.inner.stdout is not None
    async with asyncio.timeout(PATIENCE):
        return dict(json.loads(await process.inner.stdout.readline()))


@asynccontextmanager
async def simulating(folder: Path, *args: object) -> AsyncIterator[tuple[Running, str]]:
    """A simulator on any port, and its address."""
    async with Cli(folder, None).running("simulate", "--port", 0, "--json", *args) as process:
        yield process, str((await line(process))["url"])


async def test_it_serves_limits_and_lies_until_interrupted(tmp_path: Path) -> None:
    """It tells where it is, obeys its options, shows what it saw, and ends with 0 on Ctrl-C, calls that hang or not."""
    faults = ("--fault", "profile=empty_list", "--fault", "earnings=hang")
    async with (
        simulating(tmp_path, "--limit", "quote=2", "--seed", 7, *faults) as (process, url),
        aiohttp.ClientSession() as client,
    ):
        statuses = []
        for _ in range(3):
            async with client.get(f"{url}/api/v3/quote/AAPL") as answer:
                statuses.append(answer.status)
        assert statuses == [200, 200, 429]
        async with client.get(f"{url}/api/v3/profile/AAPL") as answer:
            assert await answer.json() == []
        hanging = asyncio.create_task(client.get(f"{url}/api/v3/earnings/AAPL"))
        seen: dict[str, dict[str, Any]] = {}
        while seen.get("quote", {}).get("calls") != 3 or "profile" not in seen:
            figures = await line(process)
            seen[figures["endpoint"]] = figures
        assert (seen["quote"]["over_limit"], seen["quote"]["worst_window"]) == (1, 3)
        assert seen["profile"]["faults"] == {"empty_list": 1}
        process.send(signal.SIGINT)
        assert await process.ended() == 0
        await asyncio.gather(hanging, return_exceptions=True)


async def test_the_same_seed_plays_the_same_world(tmp_path: Path) -> None:
    """Two processes of one seed agree on what does not change by the second."""
    told = []
    for seed in (7, 7, 8):
        async with (
            simulating(tmp_path, "--seed", seed) as (_, url),
            aiohttp.request("GET", f"{url}/api/v3/financial-statements/AAPL") as answer,
        ):
            told.append((await answer.read(), answer.headers["ETag"]))
    assert told[0] == told[1] != told[2]


async def test_mistakes_are_one_line(tmp_path: Path) -> None:
    """A fault, a limit or an endpoint that does not exist, and a port that is taken, are told with their fix."""
    cli = Cli(tmp_path, None)
    fault = await cli("simulate", "--fault", "quote=emty", code=1)
    assert fault.err == "unknown fault 'emty' (did you mean empty?) [simulator.invalid_fault]\n"
    endpoint = await cli("simulate", "--limit", "qoute=3", code=1)
    assert "there is no endpoint 'qoute'" in endpoint.err
    assert (await cli("simulate", "--limit", "quote=many", code=2)).err.endswith("[cli.misused]\n")
    async with simulating(tmp_path) as (_, url):
        taken = await cli("simulate", "--port", url.rpartition(":")[2], code=1)
        assert taken.err.endswith("[cli.port_unavailable]\n")


async def test_faults_are_listed(tmp_path: Path) -> None:
    """`--faults` says what can go wrong, a line each."""
    listed = (await Cli(tmp_path, None)("simulate", "--faults")).out.splitlines()
    assert any(found.startswith("bomb ") for found in listed)
    assert len(listed) > 50
