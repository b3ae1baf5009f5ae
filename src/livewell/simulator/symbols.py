"""Names of symbols: a few everybody knows, then as many as wanted."""

from collections.abc import Iterator
from itertools import islice, product
from string import ascii_uppercase

KNOWN = (
    *("AAPL", "MSFT", "GOOGL", "AMZN", "NVDA", "META", "TSLA", "BRK.A", "BRK.B", "JPM", "V", "WMT", "XOM", "UNH"),
    *("JNJ", "PG", "HD", "KO", "PEP", "BF.B", "DIS", "NFLX", "INTC", "AMD", "ORCL", "IBM", "BA", "CAT", "GE", "MCD"),
)


def symbol_names(count: int) -> list[str]:
    """The first so many names, always the same ones."""
    return list(islice(_names(), count))


def _names() -> Iterator[str]:
    yield from KNOWN
    for length in (4, 5):
        for letters in product(ascii_uppercase, repeat=length):
            name = "".join(reversed(letters))
            if name not in KNOWN:
                yield name
