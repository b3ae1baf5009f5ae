"""Logs by name: an event and its fields, said to Python's own `logging` and by default to nobody.

A library prints nothing. What Livewell has to say is on the loggers below `livewell`, whose own handler is none: who
wants to read it sets up `logging`, and programs of Livewell's own call `configure_logs`. A record's message reads
`job_rescued job_id=7 kind=report`; its `fields` are what was logged.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any, Self

ROOT = "livewell"
_later: list[Callable[[], None]] = []

logging.getLogger(ROOT).addHandler(logging.NullHandler())


class LogLine:
    """What a record says; written out only where somebody reads it."""

    __slots__ = ("event", "fields")

    def __init__(self, event: str, fields: Mapping[str, Any]) -> None:
        self.event = event
        self.fields = fields

    def __str__(self) -> str:
        from livewell.kernel.logs import masked  # noqa: PLC0415 - for who reads
        from livewell.kernel.shown import shown_text  # noqa: PLC0415 - as above

        fields = [f"{name}={masked(name, value)}" for name, value in self.fields.items()]
        return shown_text(" ".join([self.event, *fields]))


class Logger:
    """A log of one name; what it is bound to is on every line."""

    __slots__ = ("_bound", "_log")

    def __init__(self, name: str, /, **bound: Any) -> None:
        self._log = logging.getLogger(name)
        self._bound = bound

    def bind(self, **fields: Any) -> Self:
        """The same log, with more on every line."""
        return type(self)(self._log.name, **{**self._bound, **fields})

    def debug(self, event: str, /, **fields: Any) -> None:
        self._tell(logging.DEBUG, event, fields)

    def info(self, event: str, /, **fields: Any) -> None:
        self._tell(logging.INFO, event, fields)

    def warning(self, event: str, /, **fields: Any) -> None:
        self._tell(logging.WARNING, event, fields)

    def error(self, event: str, /, **fields: Any) -> None:
        self._tell(logging.ERROR, event, fields)

    def exception(self, event: str, /, **fields: Any) -> None:
        """An error, with the exception that is being handled."""
        self._tell(logging.ERROR, event, {"exc_info": True, **fields})

    def _tell(self, level: int, event: str, fields: dict[str, Any]) -> None:
        while _later:
            _later.pop()()
        if self._log.isEnabledFor(level):
            raised = fields.pop("exc_info", None)
            self._log.log(level, LogLine(event, {**self._bound, **fields}), exc_info=raised, stacklevel=3)


def before_the_first_line(set_up: Callable[[], None]) -> None:
    """Have logs set up when there is something to log, and not before."""
    _later[:] = [set_up]
