"""Budgets: what may still be spent at a provider, in requests, tokens, concurrent calls and bytes."""

from livewell.budgets.errors import (
    BudgetError,
    EndpointFull,
    InvalidBudget,
    InvalidPermit,
    KeyUnreadable,
    PermitExpired,
    UnknownEndpoint,
    UnknownProvider,
)
from livewell.budgets.headers import IgnoredHeader, RateFacts, RateLimit, read_rate_headers
from livewell.budgets.keys import KeyRing, Secret

__all__ = [
    "BudgetError",
    "EndpointFull",
    "IgnoredHeader",
    "InvalidBudget",
    "InvalidPermit",
    "KeyRing",
    "KeyUnreadable",
    "PermitExpired",
    "RateFacts",
    "RateLimit",
    "Secret",
    "UnknownEndpoint",
    "UnknownProvider",
    "read_rate_headers",
]
