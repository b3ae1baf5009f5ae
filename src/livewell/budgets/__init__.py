"""Budgets: what may be spent with a provider, and how much of it is.

The room owns providers, endpoints and keys as data, what is used of their limits, and the ledger of bytes. An endpoint
named as its provider stands for the account, whose limits all endpoints of the provider share. People set all of it in
`livewell.toml` (`declarations.py`), or tune it while everything runs.

Invariants. What is declared is what a person named: the rest stays as it was seeded or tuned. Planning and applying are
one SQL function, so a plan is what is applied. A declaration is made whole or not at all, and what it changed is
audited. A quota is refused when calls in flight could pass it: what they may take beyond their estimates fits into the
share that is kept free. A key is named by the place where it is found; the key itself is in no table and no log.

How it fails. What cannot be so is refused with the field (`budgets.invalid`), and in a file with its line.
"""

from livewell.budgets.declarations import (
    ENDPOINT_COLUMNS,
    KEY_COLUMNS,
    PROVIDER_COLUMNS,
    EndpointDeclaration,
    KeyDeclaration,
    ProviderDeclaration,
    ProviderSection,
)
from livewell.budgets.errors import (
    BudgetError,
    EndpointFull,
    InvalidBudget,
    InvalidField,
    InvalidPermit,
    KeyUnreadable,
    PermitExpired,
    UnknownEndpoint,
    UnknownField,
    UnknownProvider,
)
from livewell.budgets.metrics import BudgetGauges, used_shares
from livewell.budgets.store import BudgetStore
from livewell.budgets.types import ApiKey, BudgetState, Endpoint, Provider, QuotaState

__all__ = [
    "ENDPOINT_COLUMNS",
    "KEY_COLUMNS",
    "PROVIDER_COLUMNS",
    "ApiKey",
    "BudgetError",
    "BudgetGauges",
    "BudgetState",
    "BudgetStore",
    "Endpoint",
    "EndpointDeclaration",
    "EndpointFull",
    "InvalidBudget",
    "InvalidField",
    "InvalidPermit",
    "KeyDeclaration",
    "KeyUnreadable",
    "PermitExpired",
    "Provider",
    "ProviderDeclaration",
    "ProviderSection",
    "QuotaState",
    "UnknownEndpoint",
    "UnknownField",
    "UnknownProvider",
    "used_shares",
]
