"""Payloads are checked against the JSON Schema of their kind, at the door and again before they run.

Schemas are data: they may be changed while a process runs, so a checker forgets what it read after a while.
"""

import time
from collections.abc import Iterable
from datetime import timedelta

import jsonschema_rs

from livewell.jobs.errors import InvalidPayload
from livewell.jobs.store import JobStore
from livewell.jobs.types import JsonObject, Kind

KEPT_FOR = timedelta(seconds=30)


class PayloadChecker:
    """Knows the schemas of kinds; reads them at most once in `KEPT_FOR`."""

    def __init__(self, store: JobStore) -> None:
        self._store = store
        self._validators: dict[str, jsonschema_rs.Validator | None] = {}
        self._unusable: dict[str, str] = {}
        self._read_at = float("-inf")

    async def check(self, kind: str, payload: JsonObject) -> None:
        """Raise `InvalidPayload` naming the field, if the kind has a schema and the payload does not fit it."""
        await self.refresh()
        self.check_known(kind, payload)

    def check_known(self, kind: str, payload: JsonObject) -> None:
        """As `check`, with the schemas read last."""
        if (why := self._unusable.get(kind)) is not None:
            raise InvalidPayload(
                f"the payload schema of {kind} cannot be used: {why}", fix=f"livewell kinds show {kind}"
            )
        validator = self._validators.get(kind)
        if validator is None or validator.is_valid(payload):
            return
        problem = next(iter(validator.iter_errors(payload)))
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem.instance_path)
        raise InvalidPayload(f"payload of {kind}{where}: {problem.message}", fix=f"livewell kinds show {kind}")

    async def refresh(self) -> None:
        """Read the schemas again when those at hand are old."""
        if time.monotonic() - self._read_at < KEPT_FOR.total_seconds():
            return
        self.learn(await self._store.list_kinds())

    def learn(self, kinds: Iterable[Kind]) -> None:
        """Take the schemas of kinds that were read just now; one that cannot be used stops only its own kind."""
        self._validators, self._unusable = {}, {}
        for kind in kinds:
            try:
                self._validators[kind.kind] = _validator(kind.payload_schema) if kind.payload_schema else None
            except (jsonschema_rs.ValidationError, ValueError) as error:
                self._unusable[kind.kind] = str(error).partition("\n")[0]
        self._read_at = time.monotonic()


def _validator(schema: JsonObject) -> jsonschema_rs.Validator:
    """Whoever writes a schema shall not make a process read a file or call an address: what it refers to is in it."""
    return jsonschema_rs.validator_for(dict(schema), offline=True)
