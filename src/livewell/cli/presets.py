"""`livewell presets`: declarations that ship with Livewell, to begin with."""

from pathlib import Path
from typing import Annotated

import typer

from livewell.cli.groups import listing
from livewell.cli.options import Json
from livewell.cli.output import say, show_list
from livewell.cli.session import run

group = listing("Show and apply declarations that ship with Livewell.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The preset.")]
_FILES = Path(__file__).parents[1] / "presets"


@group.command("list", epilog="Example: livewell presets list")
def list_presets(as_json: Json = False) -> None:
    """List presets and what each is for."""
    presets = [{"name": name, "description": _description(text)} for name, text in _presets().items()]
    show_list(
        presets,
        ("PRESET", "WHAT"),
        lambda preset: (preset["name"], preset["description"]),
        as_json=as_json,
    )


@group.command("show", epilog="Example: livewell presets show market-data >> livewell.toml")
def show_preset(name: Name) -> None:
    """Show a preset as livewell.toml writes it. To be applied as it is, or copied and changed."""
    say(preset(name).removesuffix("\n"))


@group.command("apply", epilog="Example: livewell presets apply market-data --yes")
def apply_preset(
    ctx: typer.Context,
    name: Name,
    plan: Annotated[bool, typer.Option("--plan", help="Show what would change; change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Apply a preset like a file. Shows what will change, then asks; what you tuned otherwise is among it."""
    from livewell.cli.apply import Wish, carry_out, problems_told, sections
    from livewell.cli.errors import Misused
    from livewell.kernel import read_declarations

    if as_json and not (yes or plan):
        raise Misused("--json cannot ask", fix="say --yes, or --plan to change nothing")
    declared = read_declarations(preset(name).encode(), f"preset {name}", sections())
    wish = Wish(declared=declared, plan_only=plan, agreed=yes, verbose=False, as_json=as_json)
    with problems_told():
        run(ctx, lambda app: carry_out(app, wish), as_owner=True)


def preset(name: str) -> str:
    """The text of a preset, or the fact that there is none, with what was probably meant."""
    from livewell.cli.errors import Misused
    from livewell.cli.inputs import near

    presets = _presets()
    if name not in presets:
        raise Misused(f"there is no preset {name}", fix=near(name, presets) or f"one of {', '.join(presets)}")
    return presets[name]


def _presets() -> dict[str, str]:
    return {file.stem: file.read_text(encoding="utf-8") for file in sorted(_FILES.glob("*.toml"))}


def _description(text: str) -> str:
    return text.partition("\n")[0].lstrip("# ")
