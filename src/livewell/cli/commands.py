"""What commands there are, known without importing them: `livewell --help` waits for none, a command for itself alone.

How each command's own help begins stands here too, for the listing; a test keeps the two alike.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup


class Place(NamedTuple):
    """Where a command or a group of them is, as MODULE:NAME in this package, and what it does, in short."""

    at: str
    summary: str


COMMANDS: Mapping[str, Place] = {
    "init": Place(
        "init:init",
        "Write a commented livewell.toml.",
    ),
    "up": Place("up:up", "Apply a file and run what it declares."),
    "apply": Place("apply:apply", "Make providers, keys, kinds, types and tasks as a file declares them."),
    "presets": Place("presets:group", "Show and apply declarations that ship with Livewell."),
    "demo": Place(
        "demo:demo",
        "See data kept fresh.",
    ),
    "types": Place("types:group", "Show, check, add, tune and remove data types."),
    "keys": Place("keys:group", "List, import, enable and disable the keys of data types."),
    "calendars": Place("calendars:group", "Show and refresh when exchanges are in session."),
    "providers": Place("providers:group", "Show and tune providers."),
    "endpoints": Place("endpoints:group", "Show, tune, pause, resume and reset endpoints."),
    "api-keys": Place("api_keys:group", "Show where API keys are found."),
    "budgets": Place(
        "budgets:budgets",
        "Show what is used of every limit and quota, what is in flight, when it opens, and how long it lasts.",
    ),
    "freshness": Place(
        "freshness:freshness",
        "Show how fresh what viewers see is and was, by type.",
    ),
    "explain": Place(
        "explain:explain",
        "Explain why an item is as it is.",
    ),
    "tail": Place(
        "tail:tail",
        "Look at keys of a type and print them whenever they change.",
    ),
    "warnings": Place(
        "warnings:warnings",
        "List what was odd and survived, by hour.",
    ),
    "sessions": Place("presence:sessions", "Show who is there."),
    "viewers": Place(
        "presence:list_viewers", "List what is looked at, by how many distinct users, the most watched first."
    ),
    "presence": Place("presence:group", "Show where presence is read from."),
    "jobs": Place("jobs:group", "Look at jobs, queue them, and act on them."),
    "kinds": Place("kinds:group", "Show, tune, pause and resume kinds of jobs."),
    "worker": Place("worker:worker", "Run jobs until told to stop."),
    "workers": Place("workers:list_workers", "List the workers that are there."),
    "tasks": Place("tasks:group", "Show, run, tune, enable and disable tasks."),
    "health": Place("health:health", "Say whether every task runs in time."),
    "watchdog": Place("health:watchdog", "Look from outside whether everything runs, and tell a dead-man service."),
    "access": Place(
        "access:group", "Show and make access keys, and logins for programs that ask the database themselves."
    ),
    "subjects": Place("subjects:group", "Show, share and unshare what belongs to somebody."),
    "token": Place("token:token", "Make a token of an issuer whose secret this machine has, for development."),
    "settings": Place("settings:group", "Show and change settings."),
    "maintenance": Place("maintenance:group", "Stop claiming, and claim again."),
    "audit": Place("audit:group", "Read, verify and export the audit log."),
    "migrate": Place("migrate:migrate", "Bring the database up to date."),
    "postgres": Place("postgres:group", "The embedded PostgreSQL."),
    "admin": Place("admin:group", "Do by hand what tasks do by themselves."),
    "lint": Place("lint:lint", "Find what in fetchers and models goes round the framework."),
    "simulate": Place(
        "simulate:simulate",
        "Run a pretend provider on 127.0.0.1.",
    ),
}


class Root(TyperGroup):
    """The group of all commands, each imported when it is chosen."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        self.commands = Shelf()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.summary) for name, place in COMMANDS.items()])


class Shelf(MutableMapping[str, Any]):
    """The commands by name; looking at one imports it."""

    def __init__(self) -> None:
        self._taken: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._taken:
            self._taken[name] = _loaded(name, COMMANDS[name])
        return self._taken[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._taken[name] = command

    def __delitem__(self, name: str) -> None:
        del self._taken[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


def _loaded(name: str, place: Place) -> Any:
    module_name, _, attribute = place.at.partition(":")
    module = import_module(f"livewell.cli.{module_name}")
    found = getattr(module, attribute)
    if not isinstance(found, typer.Typer):
        return typer.main.get_command(_alone(name, found, module))
    group = typer.main.get_group(found)
    group.name = name
    return group


def _alone(name: str, function: Any, module: ModuleType) -> typer.Typer:
    """A command that is in no group; a module with several of them has an example for each."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    example = getattr(module, f"{name.upper()}_EXAMPLE", None) or module.EXAMPLE
    alone.command(name, epilog=example)(function)
    return alone
