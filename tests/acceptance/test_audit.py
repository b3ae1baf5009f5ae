"""`livewell audit` as an auditor runs it."""

from livewell.audit import AuditStore
from livewell.kernel import Database
from livewell.settings import SettingsStore
from tests.acceptance.command import Cli


async def test_the_log_is_listed_sealed_exported_and_verified(cli: Cli, database: Database) -> None:
    """An export verifies without the database, and the head it names is found in the database again."""
    settings = SettingsStore(database)
    await settings.set_setting("worker.claim_batch", 60, reason="first")
    await settings.set_setting("worker.claim_batch", 70, reason="second")
    entries = (await cli("audit", "list", "--event", "setting_changed", "--json")).json
    assert [entry["reason"] for entry in entries] == ["second", "first"]
    older = await cli("audit", "list", "--before", entries[0]["id"], "--limit", 1)
    assert "first" in older.out
    assert "there may be more: --before" in older.err
    sealed = (await cli("admin", "seal", "--json")).json
    assert (sealed["outcome"], sealed["head"]["number"]) == ("sealed", 1)
    head = f"1:{sealed['head']['hash']}"
    assert f"head {head}" in (await cli("audit", "export", "--output", "audit.jsonl")).err
    verified = (await cli("audit", "verify", "--head", head, "--json")).json
    assert (verified["entries"], verified["findings"]) == (2, [])
    away = Cli(cli.folder, "postgresql://nobody@127.0.0.1:1/nothing")
    assert "intact: 2 sealed entries" in (await away("audit", "verify", "--file", "audit.jsonl", "--head", head)).out
    assert (await cli("audit", "export")).out == (cli.folder / "audit.jsonl").read_text()


async def test_tampering_is_found(cli: Cli, owner: Database) -> None:
    """An edited entry, in the database or in an export, is told by `verify` with exit code 1."""
    await SettingsStore(owner).set_setting("worker.claim_batch", 60, reason="honest")
    await AuditStore(owner).seal_entries(10)
    await cli("audit", "export", "--output", "audit.jsonl")
    exported = cli.folder / "audit.jsonl"
    exported.write_text(exported.read_text().replace("honest", "hottest"))
    assert "entry_edited" in (await cli("audit", "verify", "--file", "audit.jsonl", code=1)).out
    async with owner.transaction() as connection:
        await connection.execute("alter table livewell_private.audit_entry disable trigger all")
        await connection.execute("update livewell_private.audit_entry set reason = 'hottest'")
    found = await cli("audit", "verify", "--json", code=1)
    assert [finding["problem"] for finding in found.json["findings"]] == ["guard_missing", "entry_edited"]
    assert found.err == "the audit log is not intact: 2 findings [cli.audit_not_intact]\n"


async def test_what_cannot_be_verified_or_written_is_refused(cli: Cli) -> None:
    """A head that is none, a file that is not there and one that is there already are one line each."""
    (cli.folder / "there").write_text("mine")
    for args, told in [
        (("verify", "--head", "12"), "[audit.unknown_head]"),
        (("verify", "--file", "missing"), "[cli.file_unavailable]"),
        (("export", "--output", "there"), "[cli.file_unavailable]"),
        (("export", "--after", "7"), "[audit.unknown_head]"),
    ]:
        refused = await cli("audit", *args, code=1)
        assert refused.err.endswith(f"{told}\n"), refused
        assert refused.err.count("\n") == 1, refused
    assert (cli.folder / "there").read_text() == "mine"
