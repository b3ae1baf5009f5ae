"""`livewell settings` and `livewell maintenance` as an operator runs them."""

from livewell.audit import AuditStore
from livewell.kernel import Database
from tests.acceptance.command import Cli


async def test_a_setting_is_listed_changed_and_reset(cli: Cli, database: Database) -> None:
    """What `set` changed is shown by `get` and `list --changed`, audited with who and why, and undone by `reset`."""
    assert (await cli("settings", "set", "worker.timeout", "10m", "--reason", "slow")).out == "worker.timeout set\n"
    (changed,) = (await cli("settings", "list", "--changed", "--json")).json
    assert (changed["name"], changed["value"], changed["default_value"]) == ("worker.timeout", "00:10:00", "00:05:00")
    (entry,) = await AuditStore(database).list_entries()
    assert (entry.reason, "@" in (entry.actor or "")) == ("slow", True)
    assert (await cli("settings", "reset", "worker.timeout")).out == "worker.timeout reset\n"
    assert (await cli("settings", "get", "worker.timeout")).out == "5 min\n"


async def test_a_setting_that_does_not_fit_is_refused(cli: Cli, database: Database) -> None:
    """An unknown name and a value out of bounds are one line each, with what would do, and change nothing."""
    for args, told, code in [
        (("get", "worker.timout"), "did you mean worker.timeout?", "settings.unknown"),
        (("set", "worker.timeout", "forever"), "worker.timeout", "settings.invalid_value"),
        (("reset", "worker.timout"), "worker.timeout", "settings.unknown"),
    ]:
        refused = await cli("settings", *args, code=1)
        assert told in refused.err, refused
        assert refused.err.endswith(f"[{code}]\n"), refused
        assert refused.err.count("\n") == 1, refused
    assert await AuditStore(database).list_entries() == []


async def test_maintenance_mode_is_switched_and_shown(cli: Cli, database: Database) -> None:
    """On and off are told, shown by `status` with who did it, and audited with the reason."""
    assert "nothing is claimed" in (await cli("maintenance", "on", "--reason", "moving")).out
    status = (await cli("maintenance", "status", "--json")).json
    assert (status["enabled"], "@" in status["changed_by"]) == (True, True)
    assert (await cli("maintenance", "off")).out == "maintenance mode is off\n"
    entries = await AuditStore(database).list_entries()
    assert [entry.reason for entry in entries] == ["switched off by hand", "moving"]
