"""`livewell demo` as somebody sees it who tries Livewell for the first time."""

import asyncio
import signal
from datetime import timedelta
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from livewell.kernel import Database
from livewell.settings import SettingsStore
from livewell.testing import until
from tests.acceptance.command import Cli


def _summary(out: str) -> dict[str, int]:
    lines = [line.split("  ") for line in out.rpartition("\n\n")[2].splitlines()]
    return {words[0]: int(next(word for word in words[1:] if word).replace(",", "")) for words in lines}


async def test_the_demonstration_kills_a_worker_and_loses_nothing(tmp_path: Path, own_folder: Path) -> None:
    """On a server of its own it says what it makes ready, runs its time, shows a rescue and accounts for every job."""
    cli = Cli(tmp_path, "postgresql://nobody@127.0.0.1:1/nothing", LIVEWELL_DATA=str(own_folder))
    shown = await cli("demo", "--seconds", 8)
    first, second, *_ = shown.out.splitlines()
    assert first.endswith(": data kept fresh while people look at it")
    assert "1 of 4: starting a PostgreSQL of its own in " in second
    assert f"export LIVEWELL_DATA={own_folder / 'demo'}" in shown.out
    assert "was killed with SIGKILL, holding" in shown.out
    assert "rescued from the killed worker" in shown.out
    summary = _summary(shown.out)
    assert summary["enqueued"] == summary["completed"] + summary["dead letters"] + summary["still live"]
    assert summary["completed"] > 0
    assert summary["rescued"] > 0
    assert (summary["lost"], summary["accepted twice"]) == (0, 0)
    assert _processes_of(own_folder) == []


async def test_an_interrupted_demonstration_gives_its_account(owner_cli: Cli, owner_url: str, owner: Database) -> None:
    """SIGTERM ends it early and in order: an account, exit code 0, no child left, settings as they were."""
    async with owner_cli.running("--database-url", owner_url, "demo", "--seconds", 600) as demo:
        assert demo.inner.stdout is not None
        children: list[psutil.Process] = []

        async def working() -> bool:
            assert demo.inner.stdout is not None
            return b" is there" in await demo.inner.stdout.readline()

        await until(working, "a worker is there", within=timedelta(seconds=60))
        children = psutil.Process(demo.pid).children(recursive=True)
        assert len(children) == 3
        demo.send(signal.SIGTERM)
        async with asyncio.timeout(60):
            out, _ = await demo.inner.communicate()
    assert demo.inner.returncode == 0
    assert _summary(out.decode())["lost"] == 0
    assert [child for child in children if child.is_running()] == []
    assert [row.name for row in await SettingsStore(owner).list_settings() if not row.is_default] == []


async def test_a_killed_demonstration_leaves_no_child(owner_cli: Cli, owner_url: str) -> None:
    """Even kill -9 takes the workers and the producer along: they end when the pipe to them does."""
    async with owner_cli.running("--database-url", owner_url, "demo", "--seconds", 600) as demo:

        async def working() -> bool:
            assert demo.inner.stdout is not None
            return b" is there" in await demo.inner.stdout.readline()

        await until(working, "a worker is there", within=timedelta(seconds=60))
        children = psutil.Process(demo.pid).children(recursive=True)
        demo.send(signal.SIGKILL)
        await demo.ended()

        async def gone() -> bool:
            return not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)

        await until(gone, "the children have ended", within=timedelta(seconds=30))


def _processes_of(folder: Path) -> list[str]:
    """Command lines that name the folder."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or [])
        if str(folder) in line:
            found.append(line)
    return found
