"""Run the SQL on stdin as a page's reader would: as a member of livewell_service, or as the owner of the database."""

import asyncio
import os
import sys

import asyncpg


async def main() -> None:
    connection = await asyncpg.connect(os.environ["DATABASE_URL"])
    try:
        if sys.argv[1] == "service":
            await connection.execute("set role livewell_service")
        await connection.execute(sys.stdin.read())
    finally:
        await connection.close()


if __name__ == "__main__":
    asyncio.run(main())
