"""Budgets: what may still be spent at providers that bill by call, token and byte, and punish excess.

The room owns providers, endpoints and keys, what is used of their limits, the hourly ledger, size estimates, and
permits. It decides how many requests, tokens and bytes may start now; the queue asks it in the transaction that claims,
and settles with it in the one that finishes.

Invariants. In every window of a limit's length, wherever it begins, no more requests start than the limit, and no more
arrive at the provider, if calls are sent within `send_within` of their permit or not at all. Concurrency in use is the
number of live leases, bytes in flight the sum of their reservations: nothing is counted up and down, nothing leaks.
Tokens and bytes are never over when reservations are upper bounds; otherwise by at most what is in flight times the
excess of one, which `apply` holds within the quota's buffer. A settlement counts once, by the reservation it belongs
to; what nobody knows stays as it was reserved. No secret is in the database.

Declaring. People set providers, endpoints and keys in `livewell.toml` (`declarations.py`), or tune them while all
runs; what a declaration does not name stays as it was seeded or tuned. One SQL function plans and applies, so a plan is
what is applied: whole or not at all, and audited.

Locking. Whoever decides locks the limits (`limit_use`) in order of name, then the quotas in order of provider, and
counts in a later statement, by a clock read after the locks are held.

How it fails. A provider that says 429 closes its endpoint until the time stated; one that fails too often is left alone
by its breaker and tried again by a few calls; one that lies in its headers can make us slower, never faster. A holder
of permits that dies gives its concurrency back with its lease. What a declaration cannot be is refused with its field,
in a file with its line.

Permits by hand (`PermitPool`) are for code that makes several calls; `read_rate_headers` turns an answer's headers into
facts the limiter learns from; a `KeyRing` finds API keys where their sources say.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.budgets.declarations import (
        ENDPOINT_COLUMNS,
        KEY_COLUMNS,
        PROVIDER_COLUMNS,
        EndpointDeclaration,
        KeyDeclaration,
        ProviderDeclaration,
        ProviderSection,
        key_sources_of,
    )
    from livewell.budgets.errors import (
        BudgetError,
        EndpointFull,
        InvalidBudget,
        InvalidField,
        InvalidPermit,
        KeyNotAllowed,
        KeyUnreadable,
        OwnersChoice,
        PermitExpired,
        PermitLost,
        PermitNotGranted,
        UnknownEndpoint,
        UnknownField,
        UnknownProvider,
    )
    from livewell.budgets.headers import Headers, IgnoredHeader, RateFacts, RateLimit, read_rate_headers
    from livewell.budgets.key_sources import KeySources
    from livewell.budgets.keys import KeyRing, Secret
    from livewell.budgets.metrics import BudgetGauges, used_shares
    from livewell.budgets.permit_pool import PermitOptions, PermitPool
    from livewell.budgets.permits import Permit
    from livewell.budgets.store import BudgetStore
    from livewell.budgets.types import (
        ApiKey,
        BlockId,
        BudgetState,
        Endpoint,
        Estimate,
        Granted,
        NotGranted,
        PermitOutcome,
        PermitSettlement,
        Provider,
        QuotaState,
    )
else:
    __getattr__ = opened(__name__)

__all__ = [
    "ENDPOINT_COLUMNS",
    "KEY_COLUMNS",
    "PROVIDER_COLUMNS",
    "ApiKey",
    "BlockId",
    "BudgetError",
    "BudgetGauges",
    "BudgetState",
    "BudgetStore",
    "Endpoint",
    "EndpointDeclaration",
    "EndpointFull",
    "Estimate",
    "Granted",
    "Headers",
    "IgnoredHeader",
    "InvalidBudget",
    "InvalidField",
    "InvalidPermit",
    "KeyDeclaration",
    "KeyNotAllowed",
    "KeyRing",
    "KeySources",
    "KeyUnreadable",
    "NotGranted",
    "OwnersChoice",
    "Permit",
    "PermitExpired",
    "PermitLost",
    "PermitNotGranted",
    "PermitOptions",
    "PermitOutcome",
    "PermitPool",
    "PermitSettlement",
    "Provider",
    "ProviderDeclaration",
    "ProviderSection",
    "QuotaState",
    "RateFacts",
    "RateLimit",
    "Secret",
    "UnknownEndpoint",
    "UnknownField",
    "UnknownProvider",
    "key_sources_of",
    "read_rate_headers",
    "used_shares",
]
