"""`python -m benchmarks NAME [--quick] [--only CONTENDER]`."""

import argparse
import ast
import asyncio
import importlib
import signal
import sys
from pathlib import Path
from typing import cast

import uvloop
from rich.console import Console

from benchmarks.harness import Benchmark, Context, Size, require_nothing_failed
from benchmarks.stage.cache import CACHE
from benchmarks.stage.report import print_bars, write_results
from benchmarks.stage.server import Server

HERE = Path(__file__).parent


def names() -> list[str]:
    """Every module here that defines `run`."""
    return sorted(path.stem for path in HERE.glob("*.py") if _defines_run(path))


def _defines_run(path: Path) -> bool:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(node, ast.AsyncFunctionDef) and node.name == "run" for node in tree.body)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure Livewell beside its peers.")
    parser.add_argument("name", help=f"one of: {', '.join(names())}; or all")
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer rounds, under a minute")
    parser.add_argument("--smoke", action="store_true", help="only that it runs: no peers, no figures, seconds")
    parser.add_argument("--only", metavar="CONTENDER", help="one contender (or `solo`) alone; writes no result file")
    options = parser.parse_args(arguments)
    if options.name not in {"all", *names()}:
        print(f"no benchmark called {options.name!r}; there are: {', '.join(names())}", file=sys.stderr)
        return 2
    try:
        size: Size = "smoke" if options.smoke else "quick" if options.quick else "full"
        for name in names() if options.name == "all" else [options.name]:
            uvloop.run(_run(name, size=size, only=options.only))
        return 0
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("stopped; nothing was written", file=sys.stderr)
        return 130


async def _run(name: str, *, size: Size, only: str | None) -> None:
    benchmark = cast("Benchmark", importlib.import_module(f"benchmarks.{name}"))
    if (me := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, me.cancel)
    console = Console(width=None if sys.stdout.isatty() else 150)
    server = await asyncio.to_thread(Server.start, CACHE)
    try:
        context = Context(name=name, size=size, only=only, server=server, console=console)
        await benchmark.run(context)
    finally:
        await asyncio.to_thread(server.stop)
    if context.smoke:
        require_nothing_failed(context)
        console.print(f"{name} runs")
        return
    if only is None:
        path = write_results(context)
        console.print(f"written: {path.relative_to(HERE.parent)}")
    print_bars(context)


if __name__ == "__main__":
    sys.exit(main())
