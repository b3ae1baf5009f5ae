"""Sizes as people write them, the same on the command line and in files: 1 kB is 1024 bytes."""

import re

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)i?b", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse_size(text: str) -> int:
    """500 kB, 20 GB; a `ValueError` for anything else, a part of a byte included."""
    match = _SIZE.fullmatch(text.strip())
    size = float(match[1]) * 1024 ** _POWERS[match[2].lower()] if match else 0.5
    if size != int(size):
        raise ValueError(f"{text!r} is not a size; write bytes as a number, or 500 kB, 20 GB")
    return int(size)
