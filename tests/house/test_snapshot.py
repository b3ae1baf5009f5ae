"""The schema/ folder shows what the migrations make."""

import asyncio
import os
import sys

from tests.house.project import ROOT


async def test_the_schema_snapshot_is_true(owner_url: str) -> None:
    """`schema/` has one file per object of a migrated database; whoever changes one changes the other."""
    check = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "livewell.kernel.schema_snapshot", "--check"),
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": owner_url},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await check.communicate()
    assert check.returncode == 0, output.decode()
