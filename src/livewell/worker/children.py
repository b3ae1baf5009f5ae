"""Child processes of a worker: each runs one function at a time, and ends with the worker, however that ends.

A child is a fresh interpreter that imports what it runs; it shares nothing with the worker. It pays no heed to SIGINT
and SIGTERM, which a terminal or a service manager sends to all of a group: the worker drains, and the child with it.
What was raised in a child arrives as an exception of the same name and text, without its class, which may be one that
cannot be pickled.
"""

import multiprocessing
import os
import pickle
import signal
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from livewell.worker.errors import ProcessDied
from livewell.worker.failures import frames_of, is_contention, text_of

_SPAWNING = multiprocessing.get_context("spawn")


class RaisedOffLoop(Exception):
    """What a handler raised in another process; its class is named as the one that was raised."""

    frames: tuple[str, ...] = ()
    sqlstate: str | None = None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a function came to in a child, in a form that can always be pickled."""

    result: Any = None
    raised: tuple[str, str] | None = None
    message: str = ""
    frames: tuple[str, ...] = ()
    contended: bool = False

    def value(self) -> Any:
        if self.raised is None:
            return self.result
        module, name = self.raised
        named = {"__module__": module, "__qualname__": name}
        error = type(name.rpartition(".")[2], (RaisedOffLoop,), named)(self.message)
        error.frames = self.frames
        # As a driver says it, so that the runner recognises a deadlock.
        error.sqlstate = "40P01" if self.contended else None
        raise error


class Child:
    """One process, begun with its first call. Calls and kills come from different threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection[Any, Any] | None = None
        self._killed = False

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Answer:
        """Run a function there, and wait; raises `ProcessDied` when there is no answer, whatever became of it."""
        asked = pickle.dumps((function, arguments))
        pipe = self._begun()
        try:
            pipe.send_bytes(asked)
            answer: Answer = pickle.loads(pipe.recv_bytes())  # noqa: S301 - from our own child
        except (EOFError, OSError):
            raise ProcessDied(f"the process of the job ended without an answer, {self._end()}") from None
        except BaseException:
            self.kill()
            raise
        return answer

    def is_alive(self) -> bool:
        return not self._killed and self._process is not None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def end(self) -> None:
        """End it and wait until it is gone; nobody may be calling."""
        self._end()

    def kill(self) -> None:
        """End it at once; a call that waits ends with it."""
        with self._lock:
            self._killed = True
            if self._process is not None:
                self._process.kill()

    def _begun(self) -> "Connection[Any, Any]":
        with self._lock:
            if self._killed:
                raise ProcessDied("the process of the job was ended before it began")
            if self._pipe is None:
                self._pipe, theirs = _SPAWNING.Pipe()
                self._process = _SPAWNING.Process(target=_serve, args=(theirs,), name="livewell-child", daemon=True)
                self._process.start()
                theirs.close()
                # The exit of a program asks children to end by a signal they ignore, and waits for them.
                weakref.finalize(self, _end_child, self._process)
            return self._pipe

    def _end(self) -> str:
        """Kill it, wait until it is gone, and say how it ended."""
        self.kill()
        process = self._process
        if process is None:
            return "it never began"
        process.join()
        code = process.exitcode or 0
        return f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"


def _end_child(process: multiprocessing.process.BaseProcess) -> None:
    if process.is_alive():
        process.kill()


def _serve(pipe: "Connection[Any, Any]") -> None:
    """What a child does: one call after the other, until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            pipe.send_bytes(_answer(pipe.recv_bytes()))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _answer(asked: bytes) -> bytes:
    try:
        function, arguments = pickle.loads(asked)  # noqa: S301 - from our own parent
        return pickle.dumps(Answer(result=function(*arguments)))
    except BaseException as error:  # noqa: BLE001 - a handler's end is its job's, not the process's
        return pickle.dumps(_raised(error))


def _raised(error: BaseException) -> Answer:
    kind = type(error)
    return Answer(
        raised=(kind.__module__, kind.__qualname__),
        message=text_of(error),
        frames=tuple(frames_of(error)),
        contended=is_contention(error),
    )
