"""The market of the demonstration: a pretend provider, six data types, and people who look at some of them.

The provider lies now and then, and enforces its limits by a clock of its own. What is declared is in `declared.py`.
"""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid4

from livewell.app import Livewell
from livewell.budgets import ProviderSection
from livewell.demo.declared import DECLARED, TABLES
from livewell.demo.errors import DemoBroken
from livewell.fetching import TypeSection
from livewell.kernel import Database, read_declarations
from livewell.presence import GatewayKeeper, Item
from livewell.simulator import Limit, Simulator, SimulatorOptions, parse_fault, symbol_names

PROVIDER = "demo"
TYPES = ("quote", "profile", "financial-statements", "ratios-ttm", "earnings", "dividend-history")
SYMBOLS = 40
_PEOPLE = 60
_MINUTE = timedelta(minutes=1)
# What the provider does wrong, and how often: each is refused, and nothing bad is stored.
_LIES = ("quote=absurd_value:0.01", "quote=empty_list:0.005", "profile=renamed_field:0.02", "earnings=error_500:0.02")
_OPTIONS = SimulatorOptions(
    symbols=SYMBOLS,
    rhythm={"quote": timedelta(seconds=2), "profile": 5 * _MINUTE, "ratios-ttm": _MINUTE, "earnings": 2 * _MINUTE},
    limits={"quote": Limit(requests=600)},
    faults=[parse_fault(lie) for lie in _LIES],
    latency=timedelta(milliseconds=20),
)


@asynccontextmanager
async def open_market(app: Livewell) -> AsyncIterator[Simulator]:
    """The provider at work, and everything that is fetched from it declared."""
    async with Simulator(_OPTIONS) as simulator:
        await _require_own_types(app)
        async with app.as_owner() as owner:
            await owner.database.execute(TABLES)
            await _declare(owner.database, DECLARED.replace("BASE_URL", f"{simulator.url}/api/v3"))
        yield simulator


async def _declare(database: Database, text: str) -> None:
    sections = (ProviderSection(), TypeSection("changed"))
    declared = read_declarations(text.encode(), "the demonstration's livewell.toml", sections)
    async with database.transaction() as connection:
        for section in sections:
            await section.apply(connection, declared.sections[section.word], plan_only=False, actor="demo")


async def _require_own_types(app: Livewell) -> None:
    """Types of somebody else are not made the demonstration's."""
    for known in await app.registry.list_types():
        if known.name in TYPES and not known.endpoint.startswith(f"{PROVIDER}/"):
            raise DemoBroken(
                f"this database has a data type {known.name} of its own",
                fix="leave --database-url out, or name another",
            )


@dataclass(kw_only=True)
class _Person:
    session: UUID
    items: set[Item]


class Crowd:
    """People who look at a few things each, at the well-known ones more, and now and then at something else."""

    def __init__(self, app: Livewell, *, seed: int = 1) -> None:
        self._keeper = GatewayKeeper(app.presence.store, label="demo")
        self._chance = random.Random(seed)
        self._symbols = symbol_names(SYMBOLS)
        self._people: list[_Person] = []

    @property
    def people(self) -> int:
        return len(self._people)

    async def come(self) -> None:
        """Everybody opens a page."""
        self._people = [_Person(session=uuid4(), items=set()) for _ in range(_PEOPLE)]
        await self._keeper.open([(person.session, f"demo-{number}") for number, person in enumerate(self._people)])
        await self._look([(person, item) for person in self._people for item in self._page()])

    async def move(self) -> None:
        """Somebody turns to another page; everybody else is still there."""
        person = self._chance.choice(self._people)
        page = self._page()
        await self._keeper.unsubscribe([(person.session, item) for item in person.items - page])
        person.items &= page
        await self._look([(person, item) for item in page - person.items])
        await self._keeper.run_once()

    async def leave(self) -> None:
        await self._keeper.stop()
        self._people = []

    def _page(self) -> set[Item]:
        """A symbol with its quote, and some of its documents."""
        symbol = self._symbols[min(int(self._chance.paretovariate(0.8)) - 1, len(self._symbols) - 1)]
        documents = self._chance.sample(TYPES[1:], self._chance.randint(0, 2))
        return {Item("quote", symbol), *(Item(data_type, symbol) for data_type in documents)}

    async def _look(self, looks: Sequence[tuple[_Person, Item]]) -> None:
        await self._keeper.subscribe([(person.session, item) for person, item in looks])
        for person, item in looks:
            person.items.add(item)
