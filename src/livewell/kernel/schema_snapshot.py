"""The `schema/` folder: the migrated schema, one file per object, to read and to review.

    python -m livewell.kernel.schema_snapshot            # write it
    python -m livewell.kernel.schema_snapshot --check    # say what differs, and fail

It is written from the catalog of a migrated database: the one at DATABASE_URL, or a new one on a server of its own. It
is the same on every supported PostgreSQL, and leaves out partitions that are named by their day.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from livewell.kernel.database import DatabaseOptions, close_politely, connect
from livewell.kernel.embedded import EmbeddedPostgres
from livewell.kernel.errors import LivewellError
from livewell.kernel.logs import configure_logs
from livewell.kernel.migration_files import ObjectKind, SqlFiles
from livewell.kernel.migrator import check, migrate
from livewell.kernel.schema_text import Catalog, schema_files


class NotAsMigrated(LivewellError):
    """A snapshot was asked of a database that is not what the files make."""

    code = "kernel.not_as_migrated"


async def snapshot(url: str, *, files: SqlFiles | None = None) -> dict[str, str]:
    """The files of the snapshot, by path, from a database that is exactly what the SQL files make."""
    files = files or SqlFiles.shipped()
    report = await check(url, files=files)
    if not report.is_clean:
        found = ", ".join(str(item) for item in (*report.pending, *report.drift))
        raise NotAsMigrated(f"the database is not as the files make it: {found}", fix="use a freshly migrated one")
    connection = await connect(DatabaseOptions(url=url))
    try:
        catalog = await Catalog.read(connection)
    finally:
        await close_politely(connection)
    return schema_files(catalog, {item.name: item.text for item in files.objects if item.kind is ObjectKind.VIEW})


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Make the folder hold these files and no other SQL file."""
    for path in _present(folder).keys() - files.keys():
        (folder / path).unlink()
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def differences(folder: Path, files: Mapping[str, str]) -> list[str]:
    """One line per file that is not as it should be."""
    present = _present(folder)
    return [
        *(f"{path} is missing" for path in sorted(files.keys() - present.keys())),
        *(f"{path} should not be there" for path in sorted(present.keys() - files.keys())),
        *(f"{path} is out of date" for path in sorted(files.keys() & present.keys()) if present[path] != files[path]),
    ]


def _present(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.sql")}


@asynccontextmanager
async def _migrated_database() -> AsyncIterator[str]:
    if url := os.environ.get("DATABASE_URL"):
        yield url
        return
    with tempfile.TemporaryDirectory(prefix="livewell-schema-") as place:
        Path(place).chmod(0o755)
        server = EmbeddedPostgres(Path(place) / "pg", {"fsync": "off"})
        url = await server.start()
        try:
            await migrate(url)
            yield url
        finally:
            await server.stop()


async def _main(arguments: argparse.Namespace) -> int:
    async with _migrated_database() as url:
        files = await snapshot(url)
    if not arguments.check:
        write(arguments.folder, files)
        return 0
    found = differences(arguments.folder, files)
    for line in found:
        sys.stderr.write(f"{arguments.folder.name}/{line}\n")
    if found:
        sys.stderr.write("write it again: python -m livewell.kernel.schema_snapshot\n")
    return 1 if found else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the schema/ folder, or check that it is true.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail when something differs")
    parser.add_argument("--folder", type=Path, default=Path("schema"), help="where the snapshot lies (default: schema)")
    configure_logs(level="warning")
    try:
        return asyncio.run(_main(parser.parse_args()))
    except LivewellError as fact:
        sys.stderr.write(f"{fact}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
