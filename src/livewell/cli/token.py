"""`livewell token`: a token for development, of an issuer whose secret this machine has."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from livewell.cli.inputs import duration, known
from livewell.cli.options import Json, KeyFiles, KeyVariables
from livewell.cli.output import say, show_json
from livewell.cli.session import run

if TYPE_CHECKING:
    from livewell.budgets import KeySources

EXAMPLE = "Example: livewell token app --user ada --claim tenant=red --for 8h"


def token(
    ctx: typer.Context,
    issuer: Annotated[str, typer.Argument(metavar="ISSUER", help="The issuer, by its name in livewell.toml.")],
    user: Annotated[str, typer.Option("--user", metavar="USER", help="Whose token it is: its subject.")],
    claims: Annotated[
        list[str] | None,
        typer.Option("--claim", metavar="NAME=VALUE", help="A further claim, as JSON or text; may be repeated."),
    ] = None,
    lasting: Annotated[str, typer.Option("--for", metavar="DURATION", help="Expires after so long.")] = "1h",
    file: Annotated[
        Path, typer.Option("--file", "-f", metavar="FILE", help="What is declared; livewell.toml unless named.")
    ] = Path("livewell.toml"),
    key_variables: KeyVariables = None,
    key_files: KeyFiles = None,
    as_json: Json = False,
) -> None:
    """Make a token of an issuer whose secret this machine has, for development. Nothing is kept of it."""
    from livewell.access import signed
    from livewell.budgets import KeyRing

    found = {declared.name: declared for declared in run(ctx, lambda app: app.access.list_issuers())}
    known([issuer], list(found), "issuer")
    at, chosen = int(datetime.now(UTC).timestamp()), found[issuer]
    said = {
        **_claims(claims or []),
        "iss": chosen.issuer,
        "aud": chosen.audience,
        "sub": user,
        "iat": at,
        "exp": at + int((duration(lasting) or timedelta()).total_seconds()),
    }
    made = signed(said, chosen, KeyRing(sources=_sources(key_variables, key_files, file)))
    if as_json:
        show_json({"token": made, "claims": said})
        return
    say(made)


def _claims(written: list[str]) -> dict[str, Any]:
    """What was typed: a value that is JSON is that, any other is text."""
    from pydantic_core import from_json

    from livewell.cli.errors import Misused

    claims: dict[str, Any] = {}
    for text in written:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise Misused(f"{text!r} is no claim", fix="NAME=VALUE, as tenant=red")
        try:
            claims[name] = from_json(value)
        except ValueError:
            claims[name] = value
    return claims


def _sources(variables: str | None, files: str | None, file: Path) -> "KeySources":
    """What this process may read as keys: what options or its surroundings say, and what the file declares."""
    from livewell.access import issuer_sources
    from livewell.budgets import KeySources
    from livewell.cli.apply import read_file

    sources = KeySources.from_environment(variables=variables, files=files)
    if not file.exists():
        return sources
    return sources.and_declared(issuer_sources(read_file(file).sections.get("access", {})))
