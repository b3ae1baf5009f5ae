"""The same trouble again and again, told when it begins and then once a minute, with how often it came meanwhile.

Trouble is a line that warns. Two lines are the same when their event and their words are, whatever their figures, keys
and messages; a cause is known by its code where it has one. That the database is away is one trouble, whoever meets it.
What was not met for a while is over: it is told again when it is back. The failure of a job that somebody queued is
always told; refreshes, which Livewell queues by the thousand, name their type and count as one trouble.
"""

import re
import time
from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

import structlog

from livewell.kernel.errors import DatabaseUnavailable

_TOLD_EVERY = 60.0
_OVER_AFTER = 10.0
_REMEMBERED = 1000
_WARNING = ("warning", "error")
_CAUSES = ("error", "reason")
_NOT_WHAT_IT_IS = frozenset({"key", "message", "level", "state", *_CAUSES})
_CODE = re.compile(r"\[([a-z_]+\.[a-z_]+)\]$")


@dataclass
class _Trouble:
    told_at: float
    met_at: float
    untold: int = 0


class Repeats:
    """A step of the log that lets trouble through when it is news."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: OrderedDict[object, _Trouble] = OrderedDict()

    def __call__(self, _logger: object, _method: str, fields: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        if fields.get("level") not in _WARNING or ("job_id" in fields and "data_type" not in fields):
            return fields
        what, now = _identity(fields), self._clock()
        trouble = self._known.pop(what, None)
        if trouble is None or now - trouble.met_at > _OVER_AFTER:
            self._remember(what, _Trouble(told_at=now, met_at=now))
            if trouble is not None and trouble.untold:
                fields["untold"] = trouble.untold
            return fields
        trouble.met_at = now
        self._remember(what, trouble)
        if now - trouble.told_at < _TOLD_EVERY:
            trouble.untold += 1
            raise structlog.DropEvent
        fields["untold"], trouble.untold, trouble.told_at = trouble.untold, 0, now
        # Where in the code it was is known since the first time.
        fields.pop("exc_info", None)
        return fields

    def _remember(self, what: object, trouble: _Trouble) -> None:
        self._known[what] = trouble
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


def _identity(fields: MutableMapping[str, Any]) -> object:
    causes = [_cause(str(fields[name])) for name in _CAUSES if name in fields]
    if DatabaseUnavailable.code in causes:
        return DatabaseUnavailable.code
    words = [(name, str(value)) for name, value in fields.items() if name not in _NOT_WHAT_IT_IS and _is_words(value)]
    return (*sorted(words), *causes)


def _is_words(value: object) -> bool:
    return isinstance(value, str | list | tuple)


def _cause(said: str) -> str:
    found = _CODE.search(said)
    return found[1] if found else said
