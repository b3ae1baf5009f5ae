"""Run the SQL on stdin, as the login a page's reader would have: a member of livewell_service and nothing more."""

import asyncio
import os
import sys

import asyncpg


async def main() -> None:
    connection = await asyncpg.connect(os.environ["DATABASE_URL"])
    try:
        await connection.execute("set role livewell_service")
        await connection.execute(sys.stdin.read())
    finally:
        await connection.close()


if __name__ == "__main__":
    asyncio.run(main())
