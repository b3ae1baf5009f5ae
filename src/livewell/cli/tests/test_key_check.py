"""Keys that are declared and missing are told before anything is sent."""

from pathlib import Path

from livewell.budgets import BudgetStore, KeyRing, KeySources
from livewell.cli.key_check import missing_keys
from livewell.kernel import Database
from livewell.testing import make_endpoint, make_key


async def _said(owner: Database, folder: Path = Path("keys"), **environment: str) -> list[str]:
    ring = KeyRing(environment, sources=KeySources(variables=("MAIN", "SPARE"), folders=(folder,)))
    return [line for line in await missing_keys(BudgetStore(owner), ring) if "acme" in line]


async def test_a_missing_variable_is_told_with_provider_and_fix(owner: Database) -> None:
    """Who wants it, where it was looked for and what to do are one line; a key that is there is not told."""
    await make_endpoint(owner, "acme/quote")
    await make_key(owner, "acme", "main")
    await make_key(owner, "acme", "spare")
    (line,) = await _said(owner, SPARE="s3cret")
    assert line.startswith("API key main of provider acme: no key at env:MAIN: the variable is not set: nothing is ")
    assert line.endswith("(export MAIN=… and start again)")
    assert await _said(owner, MAIN="s3cret", SPARE="s3cret") == []


async def test_a_file_that_cannot_be_read_is_told_and_never_its_content(owner: Database, tmp_path: Path) -> None:
    """A file that is missing, empty or no key is named with what is wrong with it."""
    await make_endpoint(owner, "acme/quote")
    await make_key(owner, "acme", "main", source=f"file:{tmp_path / 'key'}")
    (line,) = await _said(owner, tmp_path)
    assert f"no key at file:{tmp_path / 'key'}: No such file or directory" in line
    (tmp_path / "key").write_text("s3cret\nmore")
    (line,) = await _said(owner, tmp_path)
    assert "more than one line" in line
    assert "s3cret" not in line
    (tmp_path / "key").write_text("s3cret\n")
    assert await _said(owner, tmp_path) == []


async def test_a_key_that_may_not_be_read_is_told_with_what_allows_it(owner: Database, tmp_path: Path) -> None:
    """A variable or file this process was not told of is named with the setting that allows it, there or not."""
    await make_endpoint(owner, "acme/quote")
    await make_key(owner, "acme", "other")
    await make_key(owner, "acme", "spare", source=f"file:{tmp_path / 'key'}")
    (tmp_path / "key").write_text("s3cret")
    one, two = await _said(owner, OTHER="s3cret")
    assert "no key at env:OTHER: it is not among the variables this process may read: nothing is fetched" in one
    assert one.endswith("LIVEWELL_KEY_VARIABLES=OTHER, or key_env in the livewell.toml of livewell up)")
    assert f"LIVEWELL_KEY_FILES={tmp_path}, or key_file in the livewell.toml of livewell up)" in two


async def test_a_provider_that_wants_a_key_and_has_none_is_told(owner: Database) -> None:
    """`key_in` without a key that is enabled sends calls without one: the line to write is in what is said."""
    await make_endpoint(owner, "acme/quote")
    await owner.execute("update livewell_private.provider set key_in = 'header:X-Key' where name = 'acme'")
    await make_key(owner, "acme", "main", enabled=False)
    (line,) = await _said(owner, MAIN="s3cret")
    assert "provider acme wants an API key (header:X-Key) and has none" in line
    assert line.endswith('(write key_env = "ACME_API_KEY" below [provider.acme])')


async def test_who_is_not_called_needs_no_key(owner: Database) -> None:
    """A provider that is disabled misses nothing."""
    await make_endpoint(owner, "acme/quote")
    await make_key(owner, "acme", "main")
    await owner.execute("update livewell_private.provider set state = 'disabled' where name = 'acme'")
    assert await _said(owner) == []
