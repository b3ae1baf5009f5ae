"""Putting: what is pushed, or known to the application, is parsed as a fetched answer is, and stored.

Rows are as the provider sends them: the model of the type reads them, with its bounds, and a bad row refuses its key
and no other. What somebody else holds for longer than a moment is tried again a few times.

Events: `put_refused`.
"""

import asyncio
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from pydantic import BaseModel

from livewell.fetching.errors import InvalidPut
from livewell.fetching.fetcher import Fetcher
from livewell.fetching.judge import Rules, judge_key
from livewell.fetching.messages import plainly
from livewell.fetching.metrics import PUTS
from livewell.fetching.sources import rules_of
from livewell.fetching.store import FetchStore
from livewell.fetching.types import FetchOutcome, Put, Refused
from livewell.kernel import Caller, Connection, Logger
from livewell.registry import RegistryStore, path_text

Row: TypeAlias = Mapping[str, Any] | BaseModel
Rows: TypeAlias = Sequence[Row] | Mapping[str, Row | Sequence[Row]]
Judged: TypeAlias = tuple[str | None, FetchOutcome]

_AT_ONCE = 500
_PAUSES = (0.1, 0.2, 0.4, 0.8)
_BUSY = "busy"

log = Logger("livewell.fetching")


class Putter:
    """Puts rows of types; `fetchers` are those of the program's own, whose models read their types."""

    def __init__(
        self,
        caller: Caller,
        fetchers: Mapping[str, type[Fetcher[Any]]] | None = None,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._caller = caller
        self._fetchers = fetchers or {}
        self._clock = clock
        self._known: dict[str, tuple[datetime, Rules]] = {}

    async def put(self, data_type: str, rows: Rows, connection: "Connection | None" = None) -> list[Put]:
        """What became of each key. With `connection` it is part of that connection's transaction."""
        rules = await self._rules(data_type, connection or self._caller)
        judged = [(key, plainly(outcome, None)) for key, outcome in _judged(rows, rules, self._clock())]
        store = FetchStore(connection or self._caller)
        answers: list[Put] = []
        for at in range(0, len(judged), _AT_ONCE):
            batch = judged[at : at + _AT_ONCE]
            answers += await (_once(store, data_type, batch) if connection else _patiently(store, data_type, batch))
        _tell(data_type, answers)
        return answers

    async def _rules(self, name: str, caller: "Caller | Connection") -> Rules:
        """How rows of a type are read, compiled anew when the type has changed."""
        # An unknown type is refused here, with what was probably meant.
        await FetchStore(caller).store_puts(name, [])
        (data_type,) = await RegistryStore(caller).list_types([name])
        before = self._known.get(name)
        if before is None or before[0] != data_type.updated_at:
            self._known[name] = before = (data_type.updated_at, rules_of(data_type, fetcher=self._fetchers.get(name)))
        return before[1]


async def _once(store: FetchStore, data_type: str, judged: Sequence[Judged]) -> list[Put]:
    return await store.store_puts(data_type, judged)


async def _patiently(store: FetchStore, data_type: str, judged: Sequence[Judged]) -> list[Put]:
    """Put them, and again those that somebody held."""
    answers = await store.store_puts(data_type, judged)
    for pause in _PAUSES:
        busy = [at for at, answer in enumerate(answers) if answer.outcome == _BUSY]
        if not busy:
            break
        await asyncio.sleep(pause)
        for at, answer in zip(busy, await store.store_puts(data_type, [judged[at] for at in busy]), strict=True):
            answers[at] = answer
    return answers


def _judged(rows: Rows, rules: Rules, now: datetime) -> Iterator[Judged]:
    if isinstance(rows, Mapping):
        for key, found in rows.items():
            yield key, _judge(key, [found] if isinstance(found, Mapping | BaseModel) else found, rules, now)
        return
    steps = rules.reader.key_steps
    if steps is None:
        raise InvalidPut("nothing says whose a row is", fix='put {"AAPL": {…}}: rows by their keys')
    by_key: dict[str | None, list[Row]] = {}
    for row in rows:
        by_key.setdefault(_key_of(row, rules), []).append(row)
    for whose, found in by_key.items():
        if whose is None:
            yield None, Refused(reason="missing_key", message=f"a row without {path_text(steps)}: whose is it?")
        else:
            yield whose, judge_key(found, rules, now)


def _judge(key: str, found: Iterable[Row], rules: Rules, now: datetime) -> FetchOutcome:
    rows = list(found)
    if not rows:
        return Refused(reason="empty", message="no rows")
    if rules.reader.key_steps is not None and any(_key_of(row, rules) not in {key, None} for row in rows):
        return Refused(reason="wrong_key", message="a row is of another key")
    return judge_key(rows, rules, now)


def _key_of(row: Row, rules: Rules) -> str | None:
    content: Any = row.model_dump(by_alias=True) if isinstance(row, BaseModel) else row
    return rules.reader.key_of(content) if isinstance(content, Mapping) else None


def _tell(data_type: str, answers: Sequence[Put]) -> None:
    for outcome, number in Counts(answer.outcome for answer in answers).items():
        PUTS.labels(data_type, outcome).inc(number)
    for answer in answers:
        if answer.outcome == Refused.word:
            log.warning("put_refused", data_type=data_type, key=answer.key, reason=answer.reason)
