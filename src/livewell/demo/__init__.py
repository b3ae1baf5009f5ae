"""The demonstration: data kept fresh while people look at it, though a worker is killed, and an account of all of it.

The room owns what is played: a pretend provider that lies now and then (`market.py`, on the simulator), the tables and
the `livewell.toml` of an application (`declared.py`), people who look, three kinds of ordinary jobs (`jobs.py`), and
the processes that run them: two workers and a producer. `Stage` is the course of it. It prints nothing: whoever plays
it gives a screen and a watch, which read and show how things stand. `livewell demo` is one.

Invariants. Its tables are in a schema of their own, its data types are refused where somebody else's have their names,
and settings are afterwards as they were before. A child process ends when the demonstration does, even by kill -9.

How it fails. A broken promise (a job lost or accepted twice, a provider's limit passed) is the fact `demo.broken` after
the account, and so is a process that ended by itself. A server that is away for a while is told and waited for.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.demo.account import Account, MarketTally, Tally
    from livewell.demo.errors import DemoBroken
    from livewell.demo.jobs import KINDS
    from livewell.demo.market import PROVIDER, TYPES
    from livewell.demo.stage import Screen, Stage, Watch
else:
    __getattr__ = opened(__name__)

__all__ = [
    "KINDS",
    "PROVIDER",
    "TYPES",
    "Account",
    "DemoBroken",
    "MarketTally",
    "Screen",
    "Stage",
    "Tally",
    "Watch",
]
