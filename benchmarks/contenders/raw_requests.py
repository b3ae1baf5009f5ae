"""The raw loop: one aiohttp session, so many requests at once, each answer read and parsed, nothing else."""

import asyncio
import json
import os
import time

import aiohttp
import uvloop

from benchmarks.protocol import report, report_version


async def main() -> None:
    plan = json.loads(os.environ["BENCH_PLAN"])
    report_version(f"aiohttp {aiohttp.__version__}")
    numbers = iter(range(plan["requests"]))
    connector = aiohttp.TCPConnector(limit=plan["concurrency"])
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask() -> None:
            for number in numbers:
                async with session.get(f"{plan['url']}/quote/K{number}") as answer:
                    json.loads(await answer.read())

        started = time.perf_counter()
        await asyncio.gather(*(ask() for _ in range(plan["concurrency"])))
        report("requests", plan["requests"] / (time.perf_counter() - started), "1/s")


if __name__ == "__main__":
    uvloop.run(main())
