"""Whether everybody is back: answered again, with every connection it may have, without having been started again."""

import signal
from collections import Counter
from contextlib import suppress
from datetime import timedelta

from livewell.kernel import LivewellError
from livewell.testing import OwnServer, until
from tests.faults.load import Run

# What a worker asks its database, by what is noted when it is answered.
_ANSWERED = {"claimed": "claim", "beat_answered": "heartbeat", "finish_answered": "finish"}


async def started_again(server: OwnServer) -> None:
    """Start a server that may have gone down; what a killed one had is free only when its last backend is gone."""

    async def started() -> bool:
        with suppress(LivewellError):
            await server.start()
            return True
        return False

    await until(started, "the server runs again", within=timedelta(seconds=60))


async def seconds_until_back(run: Run, *, within: timedelta = timedelta(seconds=30)) -> list[float]:
    """From the server's return until each worker was answered a claim, a heartbeat and a finish."""
    up_at = run.events("server_up")[-1].at

    def back() -> dict[tuple[str, str], float]:
        first: dict[tuple[str, str], float] = {}
        for event in run.events(*_ANSWERED):
            if event.at > up_at:
                first.setdefault((event.by, _ANSWERED[event.what]), event.at)
        return first

    async def all_back() -> bool:
        return len(back()) == len(run.living()) * len(_ANSWERED)

    await until(all_back, "every worker is back", within=within)
    return [at - up_at for at in back().values()]


async def all_answered(run: Run, *, within: timedelta = timedelta(seconds=15)) -> None:
    """Every worker's heartbeat has been answered since now."""
    before = Counter(event.by for event in run.events("beat_answered"))

    async def answered() -> bool:
        now = Counter(event.by for event in run.events("beat_answered"))
        return all(now[member.name] > before[member.name] for member in run.living())

    await until(answered, "every worker is answered again", within=within)


async def whole_pools(run: Run) -> None:
    """Every worker can lend out all connections of its pool at once."""
    for worker in run.living():
        worker.process.send_signal(signal.SIGUSR1)
    await run.seen("pool_whole", len(run.living()))
