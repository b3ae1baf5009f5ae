"""`livewell lint` as a person and as a pre-commit hook run it."""

from pathlib import Path

from tests.acceptance.command import Cli

BAD = """from livewell import Fetcher


class Quotes(Fetcher):
    async def fetch(self, call):
        import requests

        return requests.get(f"https://x.example/{call.key}", timeout=3).json()
"""

GOOD = """from livewell import Fetcher, Model, bounded


class Quote(Model):
    symbol: str
    price: float = bounded(gt=0)


class Quotes(Fetcher[Quote]):
    async def fetch(self, call):
        return await call.get(f"/quote/{call.key}").items("$[*]")
"""


async def test_findings_are_lines_and_exit_code_1(tmp_path: Path) -> None:
    """A line each with place, code and fix, a count at the end; the same as JSON; 0 and silence without any."""
    cli = Cli(tmp_path, None)
    (tmp_path / "bad.py").write_text(BAD)
    (tmp_path / "good.py").write_text(GOOD)
    assert (await cli("lint", "good.py")).out == ""
    shown = await cli("lint", ".", code=1)
    lines = shown.out.splitlines()
    assert lines[0].startswith("bad.py:4:1: LWL003 Quotes says nothing of its rows (")
    assert {line.split()[1] for line in lines} == {"LWL001", "LWL002", "LWL003", "LWL008"}
    assert shown.err.endswith(f"{len(lines)} findings in 1 file (livewell lint --rules) [cli.lint_found]\n")
    found = (await cli("lint", "bad.py", "good.py", "--json", code=1)).json
    assert (found[0]["path"], found[0]["line"], found[0]["code"]) == ("bad.py", 4, "LWL003")
    assert len(found) == len(lines)


async def test_mistakes_are_one_line(tmp_path: Path) -> None:
    """A path that is not there, and none at all; the rules are listed on request."""
    cli = Cli(tmp_path, None)
    assert (await cli("lint", "nowhere.py", code=1)).err == "there is no nowhere.py [cli.file_unavailable]\n"
    assert (await cli("lint", code=2)).err.endswith("[cli.misused]\n")
    assert "LWL013" in (await cli("lint", "--rules")).out
