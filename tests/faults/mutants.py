"""Functions of the product with a guard taken out."""

from pathlib import Path

import livewell
from tests.faults.load import Run


async def without(run: Run, function: str, *guards: tuple[str, str]) -> None:
    """Replace a function in this run's database by one that lacks its guards."""
    (file,) = Path(livewell.__file__).parent.glob(f"*/sql/functions/{function}.sql")
    text = file.read_text(encoding="utf-8")
    for guard, instead in guards:
        assert guard in text, f"{function} has no {guard!r} to take out"
        text = text.replace(guard, instead)
    await run.owner.execute(text)
