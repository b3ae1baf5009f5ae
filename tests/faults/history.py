"""The history of a fault run, kept outside the database it judges.

Every process appends to a file of its own, one JSON line per event, with O_APPEND and one write each, so that what was
noted before a kill -9 is there after it. Times are the machine's monotonic clock, which all processes share and no
faked wall clock touches.

| event | noted by | fields |
|---|---|---|
| offered, acknowledged, unanswered | producer | keys; key, job, kind, outcome; what it was told instead |
| born | worker | pid, which its name in the database contains |
| claimed | worker | job, attempt, token, worker: as the database told it; when it was asked |
| started, effect, ended, raised, stopped | handler | job, attempt, kind, serial key, idempotency key |
| finish_sent, finish_answered | worker | job, token, outcome; state as told, `lost` or `busy` when it does not count |
| reached | worker | the step of a refresh at which it is to be killed |
| beat_answered | worker | jobs renewed, jobs lost |
| call_failed, call_slow | any | which call, how long it took, why it failed |
| killed, paused, resumed, server_down, server_up | harness | process |
| seen | harness | a finished job as it was seen during the run |

What the oracle notes is told in `oracle_program.py`.
"""

import json
import os
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened, by the machine's monotonic clock, in one process."""

    what: str
    at: float
    by: str
    fields: Mapping[str, Any]

    def __getitem__(self, field: str) -> Any:
        return self.fields[field]

    def get(self, field: str) -> Any:
        return self.fields.get(field)


class Notebook:
    """Where one process writes down what it sees."""

    def __init__(self, folder: Path, process: str) -> None:
        self.process = process
        self._file = os.open(folder / f"{process}.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def note(self, what: str, **fields: object) -> None:
        line = json.dumps({"what": what, "at": time.monotonic(), **fields}, default=str)
        os.write(self._file, f"{line}\n".encode())

    def close(self) -> None:
        os.close(self._file)


class HistoryReader:
    """Reads what all processes have written so far; a second look parses only what came since the first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, int] = {}
        self._by_what: dict[str, list[Event]] = defaultdict(list)

    def events(self, *what: str) -> list[Event]:
        """The events of these names, or all, in the order of time."""
        self._catch_up()
        found = [event for name in what or tuple(self._by_what) for event in self._by_what[name]]
        return sorted(found, key=lambda event: event.at)

    def _catch_up(self) -> None:
        for file in self._folder.glob("*.jsonl"):
            with file.open("rb") as lines:
                lines.seek(self._read.get(file, 0))
                for line in lines:
                    if not line.endswith(b"\n"):
                        break
                    self._read[file] = self._read.get(file, 0) + len(line)
                    event = _event(file.stem, line)
                    self._by_what[event.what].append(event)


def _event(by: str, line: bytes) -> Event:
    fields = json.loads(line)
    return Event(what=fields.pop("what"), at=fields.pop("at"), by=by, fields=fields)
