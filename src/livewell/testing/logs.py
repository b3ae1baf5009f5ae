"""What was logged meanwhile, as a list of events with their fields."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from livewell.kernel import LogLine


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.msg, LogLine):
            self.lines.append({**record.msg.fields, "event": record.msg.event, "log_level": record.levelname.lower()})


@contextmanager
def captured_logs() -> Iterator[list[dict[str, Any]]]:
    """Everything Livewell logs, at any level: `event`, `log_level` and the fields of each line."""
    log, kept = logging.getLogger("livewell"), _Kept()
    level = log.level
    log.addHandler(kept)
    log.setLevel(logging.DEBUG)
    try:
        yield kept.lines
    finally:
        log.setLevel(level)
        log.removeHandler(kept)
