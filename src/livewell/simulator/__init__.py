"""A pretend provider: a real HTTP server on this machine that plays upstream APIs, and can lie, lag, limit and fail.

The room owns no table and imports the kernel alone; the demonstration, the command line and tests import it. It
answers as market data APIs do (`/api/v3/quote/AAPL,MSFT` and five more data types, JSON arrays of rows) and chats as
OpenAI's does (`/v1/chat/completions`).

Invariants. What it answers is a pure function of the seed, the time and the symbol, so that a run can be replayed;
which calls a fault befalls depends on the seed and on how often the same keys were asked for. Limits hold in every
window of their length, by its own monotonic clock. The bytes it counts are those handed to the socket: it writes its
answers itself, status line, headers and body, and so it can also send wrong ones.

How it fails. A port that cannot be had is an OSError at once. A fault or a limit that makes no sense is refused with a
fact (`simulator.invalid_fault`, `simulator.invalid_limit`) and changes nothing. It listens on 127.0.0.1 only; the paths
that control it refuse web pages.
"""

from livewell.simulator.calls import Call, EndpointFigures
from livewell.simulator.clock import FasterClock, RealClock, SimulatorClock, SteppedClock
from livewell.simulator.errors import InvalidFault, InvalidLimit, SimulatorError
from livewell.simulator.faults import FAULTS, Fault, FaultKind, parse_fault
from livewell.simulator.limits import Limit, Reporting, RetryAfter
from livewell.simulator.options import CHAT, ENDPOINTS, KeyPlace, SimulatorOptions, UnknownSymbol
from livewell.simulator.server import Simulator
from livewell.simulator.symbols import symbol_names
from livewell.simulator.world import RHYTHM, Version, World

__all__ = [
    "CHAT",
    "ENDPOINTS",
    "FAULTS",
    "RHYTHM",
    "Call",
    "EndpointFigures",
    "FasterClock",
    "Fault",
    "FaultKind",
    "InvalidFault",
    "InvalidLimit",
    "KeyPlace",
    "Limit",
    "RealClock",
    "Reporting",
    "RetryAfter",
    "Simulator",
    "SimulatorClock",
    "SimulatorError",
    "SimulatorOptions",
    "SteppedClock",
    "UnknownSymbol",
    "Version",
    "World",
    "parse_fault",
    "symbol_names",
]
