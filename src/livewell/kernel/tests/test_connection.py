"""What a connection knows of types without asking."""

from livewell.kernel import Database, DatabaseOptions, connect

ARRAYS = "select $1::bigint[], $2::uuid[], $3::float8[], $4::timestamptz[]"
BASE_TYPE = """
create type public.word;
create function public.word_in(cstring) returns public.word language internal immutable strict as 'textin';
create function public.word_out(public.word) returns cstring language internal immutable strict as 'textout';
create type public.word (input = public.word_in, output = public.word_out, like = text);
"""
WORDS = "select array['a']::public.word[]"


async def _asked(url: str, query: str, *arguments: object) -> list[str]:
    """What a new connection sends for one query."""
    asked: list[str] = []
    connection = await connect(DatabaseOptions(url=url))
    try:
        connection.add_query_logger(lambda record: asked.append(record.query))
        assert isinstance(await connection.fetchval(query, *arguments), list)
    finally:
        await connection.close()
    return asked


async def test_what_an_array_is_is_asked_once_in_a_process(database_url: str) -> None:
    """The second connection reads and writes arrays of PostgreSQL's own types without a question before it."""
    await _asked(database_url, ARRAYS, [1, None], [], [0.5], None)
    assert await _asked(database_url, ARRAYS, [1, None], [], [0.5], None) == [ARRAYS]


async def test_types_of_a_database_are_asked_of_it(owner: Database, owner_url: str) -> None:
    """The number of a type that users made stands for another one in the next database: nothing of it is remembered."""
    await owner.execute(BASE_TYPE)
    for _ in range(2):
        assert len(await _asked(owner_url, WORDS)) > 1
