"""Budgets: what may still be spent at a provider, in requests, tokens, concurrent calls and bytes."""

from livewell.budgets.errors import (
    BudgetError,
    EndpointFull,
    InvalidBudget,
    InvalidPermit,
    KeyUnreadable,
    PermitExpired,
    PermitLost,
    PermitNotGranted,
    UnknownEndpoint,
    UnknownProvider,
)
from livewell.budgets.headers import IgnoredHeader, RateFacts, RateLimit, read_rate_headers
from livewell.budgets.keys import KeyRing, Secret
from livewell.budgets.permit_pool import PermitOptions, PermitPool
from livewell.budgets.permits import Permit
from livewell.budgets.store import BudgetStore
from livewell.budgets.types import BlockId, Granted, NotGranted, PermitOutcome, PermitSettlement

__all__ = [
    "BlockId",
    "BudgetError",
    "BudgetStore",
    "EndpointFull",
    "Granted",
    "IgnoredHeader",
    "InvalidBudget",
    "InvalidPermit",
    "KeyRing",
    "KeyUnreadable",
    "NotGranted",
    "Permit",
    "PermitExpired",
    "PermitLost",
    "PermitNotGranted",
    "PermitOptions",
    "PermitOutcome",
    "PermitPool",
    "PermitSettlement",
    "RateFacts",
    "RateLimit",
    "Secret",
    "UnknownEndpoint",
    "UnknownProvider",
    "read_rate_headers",
]
