"""limits on Redis, by the strategy the plan names; the server is a child of this process, in memory only."""

import asyncio
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

from limits import RateLimitItemPerMinute
from limits.storage import storage_from_string
from limits.strategies import STRATEGIES

from benchmarks.limiting import LimiterPlan, grants_per_second, worst_window
from benchmarks.protocol import report, report_version

START_LIMIT = 20.0


@contextmanager
def redis() -> Iterator[str]:
    """A Redis of this process's own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    program = shutil.which("redis-server") or "redis-server"
    with tempfile.TemporaryDirectory() as folder:
        options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder]
        server = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
        try:
            _wait_for(port)
            yield f"redis://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(START_LIMIT)


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + START_LIMIT
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


async def main() -> None:
    plan = LimiterPlan.from_environment()
    report_version(f"limits {version('limits')}, redis-py {version('redis')}")
    with redis() as address:
        limiter = STRATEGIES[plan.settings["strategy"]](storage_from_string(address))
        items = {
            name: RateLimitItemPerMinute(limit, namespace=name)
            for name, limit in (("open", 1_000_000_000), ("limited", plan.limit))
        }

        async def granted(name: str) -> bool:
            return bool(limiter.hit(items[name], "bench"))

        if plan.rate_seconds:
            report("grants", await grants_per_second(lambda: granted("open"), plan.rate_seconds), "grants/s")
        if plan.window_seconds:
            report("worst_window", await worst_window(lambda: granted("limited"), plan.window_seconds), "grants")


if __name__ == "__main__":
    asyncio.run(main())
