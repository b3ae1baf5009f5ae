"""`livewell lint`: what in the code of fetchers goes round the framework."""

from pathlib import Path
from typing import Annotated

import typer

from livewell.cli.options import Json
from livewell.cli.output import counted, say, show_json, show_table

EXAMPLE = "Example: livewell lint src"


def lint(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH…", help="Files, and folders with all the Python in them.")
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules, and end.")] = False,
    as_json: Json = False,
) -> None:
    """Find what in fetchers and models goes round the framework. Code is read, not run; a finding ends it with 1."""
    from livewell.cli.errors import FileUnavailable, LintFound, Misused
    from livewell.lint import RULES, lint_paths

    if rules:
        if as_json:
            show_json(RULES)
        else:
            show_table(("CODE", "WHAT IS FOUND", "WHAT TO DO"), [(rule.code, rule.name, rule.fix) for rule in RULES])
        return
    if not paths:
        raise Misused("nothing to look at", fix="name files or folders, as livewell lint src")
    for path in paths:
        if not path.exists():
            raise FileUnavailable(f"there is no {path}")
    found = lint_paths(paths)
    if as_json:
        show_json(found)
    else:
        for finding in found:
            say(str(finding))
    if found:
        files = counted(len({finding.path for finding in found}), "file")
        raise LintFound(f"{counted(len(found), 'finding')} in {files}", fix="livewell lint --rules")
