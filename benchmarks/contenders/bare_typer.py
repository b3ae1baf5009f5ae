"""What a command line costs that does nothing: Typer, two commands, an option."""

import typer

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command("list")
def show_list(as_json: bool = typer.Option(False, "--json", help="Print one JSON document.")) -> None:  # noqa: FBT001, FBT003
    """List nothing."""
    typer.echo("[]" if as_json else "nothing")


@app.command("show")
def show_one(name: str) -> None:
    """Show nothing."""
    typer.echo(name)


if __name__ == "__main__":
    app()
