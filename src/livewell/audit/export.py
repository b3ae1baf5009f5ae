"""The log as lines of JSON that prove themselves without the database, and the proof.

A file holds, per seal, the lines of its entries, the line of the seal, and a line with the seal's number and hash (its
head). A seal carries the SHA-256 over its entries' SHA-256s and the hash of the seal before; its own hash is that of
its line. Lines are hashed as they stand, byte for byte, so a file must not be re-formatted. A last line tells where the
file ends. A file that does not begin with the first seal begins with the head before it.
"""

import hashlib
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

from pydantic_core import from_json, to_json

from livewell.audit.errors import UnknownHead
from livewell.audit.store import AuditStore
from livewell.audit.types import BEGINNING, Finding, Head, Problem, Progress, Verification

_RANGE = re.compile(r"\[(\d+),(\d+)\)")


class Exporter:
    """Reads the sealed log portion by portion."""

    def __init__(self, store: AuditStore, *, portion: int = 5_000) -> None:
        self._store = store
        self._portion = portion

    async def lines(
        self, *, after: int = 0, progress: Callable[[Progress], None] = lambda _: None
    ) -> AsyncIterator[bytes]:
        """The lines after a seal, each ending in a newline; what is not sealed is not in them."""
        state = await self._store.read_state()
        if after:
            yield _line({"head": after, "hash": (await self._store.read_head(after)).hash})
        while after < state.head.number:
            upto = min(await self._store.next_seals(after, self._portion) or state.head.number, state.head.number)
            for line in await self._store.export_lines(after, upto):
                yield line.encode() + b"\n"
            after = upto
            progress(Progress(done=after, total=state.head.number))
        yield _line({"end": state.head.number, "hash": state.head.hash, "unsealed": state.unsealed_entries})


def _line(content: dict[str, Any]) -> bytes:
    return to_json(content) + b"\n"


def verify_export(lines: Iterable[bytes], *, expected: Head | None = None) -> Verification:
    """Verify an exported file (opened in binary), in memory for one seal at a time."""
    reading = _Reading(expected)
    for line in lines:
        reading.take(line.rstrip(b"\n"))
    return reading.end()


class _Reading:
    """What is known after some lines of a file."""

    def __init__(self, expected: Head | None) -> None:
        self.expected = expected
        self.head = BEGINNING
        self.met = expected == BEGINNING
        self.begun = False
        self.ended = False
        self.unsealed = 0
        self.entries = 0
        self.ids: list[int] = []
        self.digests: list[bytes] = []
        self.findings: list[Finding] = []

    def take(self, line: bytes) -> None:
        content = _content(line)
        match content:
            case {"id": int(entry_id)}:
                self.ids.append(entry_id)
                self.digests.append(hashlib.sha256(line).digest())
            case {"seal": int(number)}:
                self._take_seal(number, content, line)
            case {"head": int(number), "hash": str(known)}:
                self._take_head(Head(number=number, hash=known))
            case {"end": int(number), "hash": str(known), "unsealed": int(unsealed)}:
                self._take_end(Head(number=number, hash=known), unsealed)
            case _:
                self._find(Problem.ENTRY_EDITED, detail="a line is neither an entry nor a seal")
        self.begun = True

    def end(self) -> Verification:
        if not self.ended or self.ids:
            self._find(Problem.TAIL_CUT, self.head.number, detail="the file does not go on to its last line")
        if self.expected and self.expected.number > self.head.number:
            self._find(Problem.TAIL_CUT, self.expected.number, detail=f"the file ends at seal {self.head.number}")
        elif self.expected and not self.met:
            raise UnknownHead(f"the file holds no seal number {self.expected.number}", fix="give one that it holds")
        return Verification(
            head=self.head,
            expected=self.expected,
            entries=self.entries,
            unsealed_entries=self.unsealed,
            missing_ids=0,
            findings=tuple(self.findings),
        )

    def _take_seal(self, number: int, seal: dict[str, Any], line: bytes) -> None:
        if number != self.head.number + 1:
            self._find(Problem.SEAL_MISSING, self.head.number + 1, detail=f"seal {number} comes next")
        if seal.get("previous") != self.head.hash:
            self._find(Problem.CHAIN_BROKEN, number, detail="the seal does not follow the one before it")
        self._compare_entries(number, seal)
        self.head = Head(number=number, hash=hashlib.sha256(line).hexdigest())
        self.entries += len(self.ids)
        self.ids, self.digests = [], []
        self._meet()

    def _compare_entries(self, number: int, seal: dict[str, Any]) -> None:
        sealed, present = list(_members(str(seal.get("members")))), set(self.ids)
        deleted, inserted = [i for i in sealed if i not in present], sorted(present - set(sealed))
        for entry_id in deleted:
            self._find(Problem.ENTRY_DELETED, number, entry_id, "the sealed entry is not there")
        for entry_id in inserted:
            self._find(Problem.ENTRY_INSERTED, number, entry_id, "the entry is not of this seal")
        if deleted or inserted:
            return
        if self.ids != sealed:
            self._find(Problem.ENTRY_REORDERED, number, detail="the entries do not stand in the order of their ids")
        elif hashlib.sha256(b"".join(self.digests)).hexdigest() != seal.get("digest"):
            self._find(Problem.ENTRY_EDITED, number, detail="an entry is not what was sealed")

    def _take_head(self, head: Head) -> None:
        if not self.begun:
            self.head = head
            self._meet()
        elif head != self.head:
            self._find(Problem.SEAL_ALTERED, head.number, detail="the seal does not have the hash it carries")

    def _take_end(self, head: Head, unsealed: int) -> None:
        self.ended, self.unsealed = True, unsealed
        if head != self.head:
            self._find(Problem.TAIL_CUT, head.number, detail=f"the file ends at seal {self.head.number}")

    def _meet(self) -> None:
        if self.expected and self.expected.number == self.head.number:
            self.met = True
            if self.expected != self.head:
                detail = "the seal of that number is not the one that was kept"
                self._find(Problem.HISTORY_REWRITTEN, self.head.number, detail=detail)

    def _find(self, problem: Problem, seal: int | None = None, entry_id: int | None = None, detail: str = "") -> None:
        self.findings.append(Finding(problem=problem, seal=seal, entry_id=entry_id, detail=detail))


def _content(line: bytes) -> Any:
    try:
        return from_json(line)
    except ValueError:
        return None


def _members(text: str) -> Iterator[int]:
    for first, after in _RANGE.findall(text):
        yield from range(int(first), int(after))
