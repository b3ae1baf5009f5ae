"""Which driver: asyncpg or psycopg 3 on the calls that matter, and how long each believes in a silent server."""

from benchmarks.field import own, python_peer
from benchmarks.harness import Bar, Contender, Context, race
from benchmarks.stage.report import print_figures

FULL = {"single": 0, "bulk": 0, "batch": 1_000, "drain": 60_000, "samples": 0, "gap": 0.0}
QUICK = {**FULL, "drain": 20_000}
BATCH = 500
REFERENCE = "raw_asyncpg"
CHOSEN = "asyncpg_rows"
OTHER = ("psycopg_rows", "psycopg_json")


def _contender(name: str, module: str, shape: str, *, theirs: bool = False) -> Contender:
    prepare = python_peer(module) if theirs else own(module)
    return Contender(name=name, peer=theirs, prepare=prepare, settings={"shape": shape, "batch": BATCH})


CONTENDERS = [
    _contender(REFERENCE, "asyncpg_calls", "raw"),
    _contender(CHOSEN, "asyncpg_calls", "rows"),
    _contender("asyncpg_json", "asyncpg_calls", "json"),
    _contender("psycopg_rows", "psycopg_calls", "rows", theirs=True),
    _contender("psycopg_json", "psycopg_calls", "json", theirs=True),
]


async def run(context: Context) -> None:
    context.versions["postgresql"] = await context.server.version()
    figures = await race(context, CONTENDERS, QUICK if context.quick else FULL)
    print_figures(context, figures, against=REFERENCE, measures=("claim_and_finish", "client_cpu", "silent_server"))
    if context.only is not None:
        return
    best = figures.best(OTHER, "claim_and_finish")
    context.bars += [
        Bar(
            name="hot calls, asyncpg as rows / psycopg at its best",
            value=None if best is None else figures.ratio(CHOSEN, "claim_and_finish", best[0]),
            at_least=1.0,
            note="" if best is None else f"psycopg at its best: {best[0]}",
        ),
        Bar(
            name="time until a silent server is given up, asyncpg / psycopg",
            value=figures.ratio(CHOSEN, "silent_server", "psycopg_rows"),
            at_most=1.0,
            note="each call was given two seconds",
        ),
    ]
