"""`livewell postgres`, and commands without a database of their own."""

from pathlib import Path

from tests.acceptance.command import Cli


async def test_the_embedded_server_is_started_used_and_stopped(tmp_path: Path, own_folder: Path) -> None:
    """Kept running by `start` it serves commands that name no database, tells its address, and ends with `stop`."""
    cli = Cli(tmp_path, None, LIVEWELL_DATA=str(own_folder))
    assert (await cli("postgres", "status")).out == f"not running; its folder is {own_folder / 'pg'}\n"
    assert (await cli("postgres", "url", code=1)).err.endswith("[kernel.embedded_not_started]\n")
    started = (await cli("postgres", "start")).out
    try:
        assert (await cli("postgres", "url")).out == started
        await cli("jobs", "enqueue", "report_generation", '{"month": 11}')
        (count,) = (await cli("jobs", "stats", "--json")).json
        assert count["jobs"] == 1
        status = (await cli("postgres", "status", "--json")).json
        assert (status["running"], status["kept"], status["users"]) == (True, True, 0)
    finally:
        assert (await cli("postgres", "stop")).out == "stopped\n"
    assert (await cli("postgres", "stop")).out == "it was not running\n"
