"""Chance as a pure function of a seed: draws that can be asked for again, and a random walk one can enter anywhere.

The walk is a Brownian bridge: a point is found by halving the stretch it lies in, so that its value costs the same
whether it is the first or the ten-millionth, and nobody has to have walked there. After 262,144 steps it is back where
it began, so that it never strays for good.
"""

import random
from hashlib import blake2b
from math import sqrt
from statistics import NormalDist

_LEVELS = 18
_NORMAL = NormalDist()


def number_of(seed: int, *parts: object) -> int:
    """A number of 64 bits that the parts always give."""
    text = "\x1f".join(map(str, parts))
    return int.from_bytes(blake2b(text.encode(), digest_size=8, key=str(seed).encode()[:64]).digest(), "big")


def draw(seed: int, *parts: object) -> float:
    """A number from 0 up to 1 that the parts always give."""
    return (number_of(seed, *parts) >> 11) / (1 << 53)


def generator(seed: int, *parts: object) -> random.Random:
    """Many draws in a row."""
    return random.Random(number_of(seed, *parts))


def walk(seed: int, name: str, step: int) -> float:
    """Where a walk of steps of size one (normally distributed) stands after `step` of them."""
    step %= 1 << _LEVELS
    low, high = 0, 1 << _LEVELS
    at_low = at_high = 0.0
    while high - low > 1 and step != low:
        middle = (low + high) // 2
        at_middle = (at_low + at_high) / 2 + sqrt(high - low) / 2 * _normal(seed, name, middle)
        if step < middle:
            high, at_high = middle, at_middle
        else:
            low, at_low = middle, at_middle
    return at_low


def _normal(seed: int, name: str, point: int) -> float:
    return _NORMAL.inv_cdf(draw(seed, "walk", name, point) or 0.5)
