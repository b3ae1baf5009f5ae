"""`livewell simulate`: the pretend provider by itself, until it is interrupted."""

from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.options import Json
from livewell.cli.output import say, show_table
from livewell.cli.session import run_on_uvloop, set_up_logs

if TYPE_CHECKING:
    from livewell.simulator import Limit, Simulator, SimulatorClock, SimulatorOptions

EXAMPLE = "Example: livewell simulate --port 8801 --limit quote=300 --fault quote=empty:0.01"


def simulate(
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="Where to listen; 0 takes any.")] = 8801,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same data and faults.")] = 1,
    symbols: Annotated[int, typer.Option("--symbols", min=1, max=1_000_000, help="How many symbols there are.")] = 500,
    limit: Annotated[
        list[str] | None,
        typer.Option("--limit", metavar="ENDPOINT=N", help="Requests per minute; may be given several times."),
    ] = None,
    tokens: Annotated[
        list[str] | None, typer.Option("--tokens", metavar="ENDPOINT=N", help="Tokens per minute, as chat=200000.")
    ] = None,
    concurrent: Annotated[
        list[str] | None, typer.Option("--concurrent", metavar="ENDPOINT=N", help="Requests at once.")
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            "--fault",
            metavar="ENDPOINT=KIND[:SHARE][:xN]",
            help="Let something go wrong, as quote=slow:0.1:seconds=2, or *=reset:x3; may be given several times.",
        ),
    ] = None,
    latency: Annotated[str, typer.Option("--latency", metavar="DURATION", help="How long an answer takes.")] = "0s",
    speed: Annotated[
        float, typer.Option("--speed", min=0.001, max=1_000_000, help="How fast its world goes, from a year ago on.")
    ] = 1.0,
    key: Annotated[
        list[str] | None, typer.Option("--key", metavar="KEY", help="Ask for one of these API keys, else 401.")
    ] = None,
    key_in: Annotated[str, typer.Option("--key-in", metavar="PLACE", help="Where it is: query or header.")] = "query",
    faults: Annotated[bool, typer.Option("--faults", help="List what can go wrong, and end.")] = False,
    as_json: Json = False,
) -> None:
    """Run a pretend provider on 127.0.0.1: market data and chat, with limits, and faults on demand. Ctrl-C ends it."""
    from livewell.cli.inputs import duration, known
    from livewell.simulator import FAULTS, KeyPlace, SimulatorOptions, parse_fault

    if faults:
        show_table(("FAULT", "WHAT HAPPENS"), FAULTS.items())
        return
    known([key_in], list(KeyPlace), "place of a key")
    options = SimulatorOptions(
        port=port,
        seed=seed,
        symbols=symbols,
        limits=_limits(limit, tokens, concurrent),
        faults=[parse_fault(text) for text in fault or ()],
        latency=duration(latency) or SimulatorOptions.latency,
        api_keys=frozenset(key or ()),
        key_place=KeyPlace(key_in),
    )
    set_up_logs("warning")
    raise typer.Exit(run_on_uvloop(_run(options, _clock(speed), as_json=as_json)))


def _limits(requests: list[str] | None, tokens: list[str] | None, concurrent: list[str] | None) -> "dict[str, Limit]":
    from livewell.simulator import Limit

    calls, words, together = _sizes(requests), _sizes(tokens), _sizes(concurrent)
    return {
        name: Limit(requests=calls.get(name), tokens=words.get(name), concurrent=together.get(name))
        for name in sorted({*calls, *words, *together})
    }


def _sizes(words: list[str] | None) -> dict[str, int]:
    from livewell.cli.errors import Misused

    sizes: dict[str, int] = {}
    for word in words or ():
        name, _, size = word.partition("=")
        if not name or not size.isascii() or not size.isdigit() or not int(size):
            raise Misused(f"{word!r} limits nothing", fix="write ENDPOINT=N with N above 0, as quote=300")
        sizes[name] = int(size)
    return sizes


def _clock(speed: float) -> "SimulatorClock":
    from livewell.simulator import FasterClock, RealClock

    return RealClock() if speed == 1 else FasterClock(speed)


async def _run(options: "SimulatorOptions", clock: "SimulatorClock", *, as_json: bool) -> int:
    from livewell.cli.errors import PortUnavailable
    from livewell.cli.simulate_view import view_for
    from livewell.kernel import Service
    from livewell.simulator import Simulator

    simulator = Simulator(options, clock=clock)
    try:
        await simulator.open()
    except OSError as error:
        raise PortUnavailable(
            f"cannot serve on port {options.port}: {error.strerror or error}", fix="name another port, or 0 for any"
        ) from error
    with view_for(simulator, as_json=as_json) as view:
        code = await Service(agents=[view], components=[simulator]).run()
    _sum_up(simulator, as_json=as_json)
    return code


def _sum_up(simulator: "Simulator", *, as_json: bool) -> None:
    if not as_json:
        figures = simulator.figures().values()
        say(f"{sum(endpoint.calls for endpoint in figures):,} calls, {simulator.over_limit:,} of them over a limit")
