"""`livewell tail`: look at keys of a type, as a viewer does, and see them change."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from livewell.cli.options import Json
from livewell.cli.output import say, shown_duration
from livewell.cli.session import run, who

if TYPE_CHECKING:
    from uuid import UUID

    from livewell.app import Livewell

EXAMPLE = "Example: livewell tail quote AAPL MSFT --count 10"
_FIELDS = 4
_POLL = 1.0


def tail(
    ctx: typer.Context,
    data_type: Annotated[str, typer.Argument(metavar="TYPE", help="The data type.")],
    keys: Annotated[list[str], typer.Argument(metavar="KEY…", help="What to look at.")],
    count: Annotated[
        int | None, typer.Option("--count", min=1, metavar="N", help="End after so many lines; else with Ctrl-C.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Look at keys of a type and print them whenever they are refreshed: whoever tails is a viewer like any other."""
    with suppress(KeyboardInterrupt):
        run(ctx, lambda app: _Tail(app, data_type, keys, as_json=as_json).run(count))


class _Tail:
    """One who looks."""

    def __init__(self, app: "Livewell", data_type: str, keys: Sequence[str], *, as_json: bool) -> None:
        self._app = app
        self._data_type = data_type
        self._keys = list(dict.fromkeys(keys))
        self._as_json = as_json
        self._seen: dict[str, datetime] = {}

    async def run(self, count: int | None) -> None:
        """Look until so many lines are printed; whatever ends it, nobody is left looking."""
        session = await self._app.presence.open(f"tail:{who()}")
        try:
            await self._app.presence.subscribe(session, [(self._data_type, key) for key in self._keys])
            await self._print_changes(session, count)
        finally:
            await self._app.presence.close(session)

    async def _print_changes(self, session: "UUID", count: int | None) -> None:
        from livewell.fetching import CHANGES_CHANNEL
        from livewell.kernel import Listener, wait_for_any

        changed, stop = asyncio.Event(), asyncio.Event()
        listener = Listener(
            self._app.database.options, [CHANGES_CHANNEL], lambda _channel, _payload: changed.set(), changed.set
        )
        listening = asyncio.create_task(listener.run(stop))
        printed = 0
        try:
            while count is None or printed < count:
                changed.clear()
                for line in await self._news(count and count - printed):
                    say(line)
                    printed += 1
                await wait_for_any(changed, timeout=_POLL)
                await self._app.presence.renew(session)
        finally:
            stop.set()
            await listening

    async def _news(self, most: int | None) -> list[str]:
        """A line for each key that was fetched since it was printed last."""
        lines: list[str] = []
        for key in self._keys:
            (item,) = await self._app.freshness.explain_item(key, self._data_type)
            if item.newest is None or item.newest == self._seen.get(key) or len(lines) == most:
                continue
            self._seen[key] = item.newest
            rows = await self._app.fetches.stored_rows(self._data_type, key, limit=1)
            now = datetime.now(UTC)
            told = {"at": now, "type": self._data_type, "key": key, "value": rows[0] if rows else None}
            figures = {"age": now - item.newest, "next": item.newest + item.ttl - now, "viewers": item.viewers}
            lines.append(_json({**told, **figures}) if self._as_json else _line(key, told["value"], now, figures))
        return lines


def _line(key: str, value: Any, now: datetime, figures: Mapping[str, Any]) -> str:
    row = value[0] if isinstance(value, list) and value else value
    fields = [
        f"{name} {one}"
        for name, one in (row.items() if isinstance(row, dict) else ())
        if one != key and isinstance(one, str | int | float)
    ]
    age, next_in = shown_duration(figures["age"]), shown_duration(figures["next"])
    viewers = f"({figures['viewers']} {'viewer' if figures['viewers'] == 1 else 'viewers'})"
    return "  ".join([f"{now:%H:%M:%S}", key, *fields[:_FIELDS], f"age {age}", f"next in {next_in}", viewers])


def _json(told: Mapping[str, Any]) -> str:
    from pydantic_core import to_json

    return to_json(told).decode()
