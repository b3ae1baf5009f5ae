"""`livewell postgres`, and commands without a database of their own."""

from pathlib import Path

from tests.acceptance.command import Cli


async def test_the_embedded_server_is_started_used_and_stopped(tmp_path: Path, own_folder: Path) -> None:
    """Kept running by `start` it serves commands that name no database, tells its address, and ends with `stop`."""
    cli = Cli(tmp_path, None, LIVEWELL_DATA=str(own_folder))
    folder = own_folder / "pg"
    assert (await cli("postgres", "status", code=1)).out == f"not running; its folder {folder} does not exist\n"
    assert (await cli("postgres", "url", code=1)).err.endswith("[kernel.embedded_not_started]\n")
    started = await cli("postgres", "start")
    assert started.err == f"there is no database in {folder}: a new, empty one is made\n"
    try:
        assert (await cli("postgres", "url")).out == started.out
        await cli("jobs", "enqueue", "report_generation", '{"month": 11}')
        (count,) = (await cli("jobs", "stats", "--json")).json
        assert count["jobs"] == 1
        status = (await cli("postgres", "status", "--json")).json
        assert (status["running"], status["kept"], status["users"]) == (True, True, 0)
    finally:
        assert (await cli("postgres", "stop")).out == "stopped\n"
    assert (await cli("postgres", "stop")).out == "it was not running\n"
    assert (await cli("postgres", "status", code=1)).out == f"not running; its folder {folder} is there\n"


async def test_no_command_makes_a_database_in_place_of_one_that_is_gone(tmp_path: Path, own_folder: Path) -> None:
    """Where the folder of the embedded database is gone, a command names it and what makes one, and makes none."""
    cli = Cli(tmp_path, None, LIVEWELL_DATA=str(own_folder))
    for line in ("jobs list", "settings set worker.timeout 10m", "tasks run rescue"):
        told = (await cli(*line.split(), code=1)).err
        assert told.startswith(
            f"there is no database in {own_folder / 'pg'} (livewell up or livewell migrate makes one;"
        )
        assert told.endswith("[cli.no_database]\n")
    assert not (own_folder / "pg").exists()
