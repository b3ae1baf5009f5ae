"""Structured logs of Livewell's own programs: one event name per line with its fields, for people or as JSON.

`LIVEWELL_LOG_FORMAT` is `console` or `json` (default: console when standard error is a terminal), `LIVEWELL_LOG_LEVEL`
one of debug, info, warning, error. Times are UTC. A value whose key looks sensitive, or whose name was registered with
`mask()`, never reaches the output; neither does a password inside a URL. Trouble that lasts is told once a minute
(`log_repeats`).
"""

import logging
import os
import re
import sys
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, TextIO

from livewell.kernel.errors import LivewellError
from livewell.kernel.logger import ROOT, LogLine
from livewell.kernel.shown import shown_text

MASK = "•••"
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
FORMATS = ("console", "json")

_SENSITIVE = re.compile(
    r"(^|[_.\-])(password|passwd|passphrase|secret|token|credential|authorization|cookie|apikey)s?($|[_.\-])|[_.\-]key$",
    re.IGNORECASE,
)
_URL_PASSWORD = re.compile(r"(?P<before>[a-z][a-z0-9+.\-]*://[^\s:/@]*:)[^\s/@]+(?=@)", re.IGNORECASE)
_LINES = ("exception", "stack")
_HARMLESS = {"dedupe_key", "serial_key"}

_registered: set[str] = set()

working_on: ContextVar[int | None] = ContextVar("working_on", default=None)
"""The job this task works on: its id is on every line logged meanwhile, whoever logs it."""


class LogSettingInvalid(LivewellError):
    """The environment asks for a log level or format that does not exist."""

    code = "kernel.log_setting_invalid"


def mask(name: str) -> None:
    """From now on, show no value that bears this name."""
    _registered.add(name.lower())


def masked(name: str, value: Any) -> Any:
    """The value as it may be shown under this name; figures are shown unless the name was registered."""
    if name.lower() in _registered or (isinstance(value, str | bytes) and _looks_sensitive(name)):
        return MASK
    if isinstance(value, str):
        return _URL_PASSWORD.sub(rf"\g<before>{MASK}", value)
    if isinstance(value, Mapping):
        return {key: masked(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [masked(name, inner) for inner in value]
    return value


def configure_logs(
    *, environment: Mapping[str, str] | None = None, stream: TextIO | None = None, level: str | None = None
) -> None:
    """Let this process say what it logs, as the environment asks; `level` overrides it. What was set up before goes."""
    environment = os.environ if environment is None else environment
    stream = stream or sys.stderr
    wanted = _choice("LIVEWELL_LOG_LEVEL", level or environment.get("LIVEWELL_LOG_LEVEL", "info"), tuple(LEVELS))
    default_format = "console" if stream.isatty() else "json"
    shape = _choice("LIVEWELL_LOG_FORMAT", environment.get("LIVEWELL_LOG_FORMAT", default_format), FORMATS)
    silence_logs()
    log = logging.getLogger(ROOT)
    log.addHandler(_Told(shape, stream))
    log.setLevel(LEVELS[wanted])
    log.propagate = False


def silence_logs() -> None:
    """Say nothing any more, as a library does."""
    log = logging.getLogger(ROOT)
    for handler in [handler for handler in log.handlers if isinstance(handler, _Told)]:
        log.removeHandler(handler)
    log.setLevel(logging.NOTSET)
    log.propagate = True


class _Told(logging.Handler):
    """Writes records as lines of one shape, each with its time, its job and no secret."""

    def __init__(self, shape: str, stream: TextIO) -> None:
        import structlog  # noqa: PLC0415 - masking needs no logs, and importing them takes a tenth of a second

        from livewell.kernel.log_repeats import Repeats  # noqa: PLC0415 - as above

        super().__init__()
        self._shape = shape
        self._stream = _Unfailing(stream)
        self._dropped = structlog.DropEvent
        self._steps = [
            structlog.contextvars.merge_contextvars,
            _add_job_id,
            Repeats(),
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _mask_fields,
            *([] if shape == "json" else [_show_fields]),
            _renderer(shape, stream),
        ]

    def emit(self, record: logging.LogRecord) -> None:
        said = record.msg
        event, fields = (said.event, said.fields) if isinstance(said, LogLine) else (record.getMessage(), {})
        content: Any = {**fields, "event": event, "level": record.levelname.lower()}
        if record.exc_info:
            content["exc_info"] = record.exc_info
        try:
            for step in self._steps:
                content = step(None, record.levelname.lower(), content)
        except self._dropped:
            return
        self._stream.write(f"{content if self._shape == 'console' else shown_text(content)}\n")
        self._stream.flush()


class _Unfailing:
    """A stream whose reader may have gone, or whose disk may be full: the program goes on all the same."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()


def _renderer(shape: str, stream: TextIO) -> Any:
    import structlog  # noqa: PLC0415 - only where lines are written

    if shape == "json":
        return structlog.processors.JSONRenderer()
    return structlog.dev.ConsoleRenderer(colors=stream.isatty())


def _add_job_id(_logger: object, _method: str, fields: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    job_id = working_on.get()
    if job_id is not None:
        fields.setdefault("job_id", job_id)
    return fields


def _mask_fields(_logger: object, _method: str, fields: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in fields.items():
        fields[name] = masked(name, value)
    return fields


def _show_fields(_logger: object, _method: str, fields: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Show control characters, so that no text of a provider colours, moves or forges a line. JSON does so itself."""
    for name, value in fields.items():
        if isinstance(value, str):
            fields[name] = shown_text(value, lines=name in _LINES)
        elif not isinstance(value, int | float | None):
            fields[name] = shown_text(repr(value))
    return fields


def _looks_sensitive(name: str) -> bool:
    return name not in _HARMLESS and _SENSITIVE.search(name) is not None


def _choice(variable: str, value: str, choices: tuple[str, ...]) -> str:
    if value.lower() not in choices:
        raise LogSettingInvalid(f"{variable} is {value!r}", fix=f"use one of {', '.join(choices)}")
    return value.lower()
