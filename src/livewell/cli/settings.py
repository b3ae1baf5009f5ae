"""`livewell settings`: what can be tuned while everything runs."""

from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.groups import listing
from livewell.cli.options import Json, Reason
from livewell.cli.output import say, show_json, show_list
from livewell.cli.session import run, who
from livewell.kernel import shown_interval

if TYPE_CHECKING:
    from livewell.settings import SettingRow

group = listing("Show and change settings. Running processes take changes over at once.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The setting, as worker.timeout.")]


@group.command("list", epilog="Example: livewell settings list --changed")
def list_settings(
    ctx: typer.Context,
    changed: Annotated[bool, typer.Option("--changed", help="Only those that differ from what was shipped.")] = False,
    as_json: Json = False,
) -> None:
    """List settings. Sensitive values are masked."""
    rows = [row for row in _rows(ctx) if not (changed and row.is_default)]
    show_list(
        rows,
        ("NAME", "VALUE", "SHIPPED", "BOUNDS", "MEANING"),
        lambda row: (
            *(row.name, _shown(row, row.value), None if row.is_default else _shown(row, row.default_value)),
            *(_bounds(row), row.description),
        ),
        as_json=as_json,
    )


@group.command("get", epilog="Example: livewell settings get worker.timeout")
def get_setting(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Print the value of one setting. A sensitive one is masked."""
    from livewell.cli.inputs import named
    from livewell.settings import UnknownSetting

    row = named(name, _rows(ctx), UnknownSetting, "there is no setting", "settings")
    if as_json:
        show_json(row)
    else:
        say(_shown(row, row.value))


@group.command("set", epilog="Example: livewell settings set worker.timeout 10m --reason 'slow provider'")
def set_setting(
    ctx: typer.Context,
    name: Name,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value; a duration as 10m or 00:10:00.")],
    reason: Reason = None,
) -> None:
    """Change one setting. It is checked, audited, and told to running processes."""
    from livewell.settings import SettingsStore

    changed = run(ctx, lambda app: SettingsStore(app.database).set_setting(name, value, actor=who(), reason=reason))
    say(f"{name} set" if changed else f"{name} is so already")


@group.command("reset", epilog="Example: livewell settings reset worker.timeout")
def reset_setting(ctx: typer.Context, name: Name, reason: Reason = None) -> None:
    """Set one setting back as it was shipped."""
    from livewell.settings import SettingsStore

    changed = run(ctx, lambda app: SettingsStore(app.database).reset_setting(name, actor=who(), reason=reason))
    say(f"{name} reset" if changed else f"{name} is so already")


def _rows(ctx: typer.Context) -> "list[SettingRow]":
    from livewell.settings import SettingsStore

    return run(ctx, lambda app: SettingsStore(app.database).list_settings())


def _shown(row: "SettingRow", value: str) -> str:
    return shown_interval(value) if row.type == "duration" else value


def _bounds(row: "SettingRow") -> str | None:
    parts = [f"≥ {_shown(row, row.minimum)}"] if row.minimum else []
    parts += [f"≤ {_shown(row, row.maximum)}"] if row.maximum else []
    parts += [f"< {row.less_than}"] if row.less_than else []
    parts += [f"one of {', '.join(row.choices)}"] if row.choices else []
    return ", ".join(parts) or None
