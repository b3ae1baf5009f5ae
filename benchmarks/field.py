"""The field: every contender of the queue benchmark, at the settings its own documentation or benchmark recommends."""

import sys
from collections.abc import Callable

from benchmarks.harness import Contender, Program
from benchmarks.stage.cache import PEERS, node_peers, python_peers, river_program

LIVEWELL = "livewell"
SERIAL = "livewell_serial"
RAW = "raw"

# No bar looks at a peer's latency, so a quick run does not measure it.
LIGHT = {"single": 300, "samples": 0}

WORKER = {"concurrency": 50, "claim_batch": 500}


def own(module: str) -> Callable[[], Program]:
    return lambda: Program(command=[sys.executable, "-m", f"benchmarks.contenders.{module}"])


def python_peer(module: str) -> Callable[[], Program]:
    return lambda: Program(command=[str(python_peers()), "-m", f"benchmarks.peers.{module}"])


def _node_peer(file: str) -> Callable[[], Program]:
    def prepare() -> Program:
        node, modules = node_peers()
        return Program(command=[str(node), str(PEERS / file)], environment={"NODE_PATH": str(modules)})

    return prepare


def _river() -> Program:
    return Program(command=[str(river_program())])


RAW_LOOP = Contender(
    name=RAW,
    prepare=own("raw"),
    settings={"batch": 500, "connections": 3},
    note="claims by SKIP LOCKED, finishes in place; no leases, keys or history",
)
OURS = Contender(
    name=LIVEWELL,
    prepare=own("livewell"),
    settings={**WORKER, "serial_keys": 0},
    note="dedupe keys, leases and a history of attempts on",
)
OURS_SERIAL = Contender(
    name=SERIAL,
    prepare=own("livewell"),
    settings={**WORKER, "serial_keys": 2_000},
    plan={"single": 0, "samples": 0},
    quick_plan={"bulk": 0},
    note="as livewell, every job with one of 2,000 serial keys",
)
PEER_FIELD = [
    Contender(
        name="pgqueuer",
        peer=True,
        prepare=python_peer("pgqueuer"),
        settings={"batch_size": 500, "managers": 1},
        quick_plan=LIGHT,
    ),
    Contender(
        name="procrastinate",
        peer=True,
        prepare=python_peer("procrastinate"),
        settings={"concurrency": 50, "pool": 8},
        plan={"drain": 5_000},
        quick_plan={**LIGHT, "bulk": 5_000, "drain": 500},
        note="its batch call takes no lock per job, so its bulk figure is without keys",
    ),
    Contender(
        name="graphile_worker",
        peer=True,
        prepare=_node_peer("graphile.cjs"),
        settings={"concurrent_jobs": 24, "local_queue": 500, "pool_size": 25, "batch_delay_ms": 0},
        quick_plan=LIGHT,
    ),
    Contender(
        name="pg_boss",
        peer=True,
        prepare=_node_peer("pgboss.cjs"),
        settings={"batch_size": 1000, "local_concurrency": 4, "pool_size": 10, "polling_seconds": 0.5},
        quick_plan=LIGHT,
    ),
    Contender(
        name="river",
        peer=True,
        prepare=_river,
        settings={"max_workers": 2000, "fetch_cooldown_ms": 2, "fetch_poll_interval_ms": 20, "pool_size": 20},
        quick_plan=LIGHT,
    ),
]
