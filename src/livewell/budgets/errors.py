"""Facts about budgets."""

from datetime import timedelta

from livewell.kernel import LivewellError


class BudgetError(LivewellError):
    """Something about a provider, an endpoint or a key."""

    code = "budgets.error"


class UnknownEndpoint(BudgetError):
    """No endpoint of that name is declared."""

    code = "budgets.unknown_endpoint"
    sqlstate = "LWB01"


class EndpointFull(BudgetError):
    """As many jobs wait for the endpoint as it allows; nothing of the batch was queued."""

    code = "budgets.endpoint_full"
    sqlstate = "LWB02"


class InvalidBudget(BudgetError):
    """A provider, an endpoint or a key cannot be as asked."""

    code = "budgets.invalid"
    sqlstate = "LWB03"


class UnknownProvider(BudgetError):
    """No provider of that name is declared."""

    code = "budgets.unknown_provider"
    sqlstate = "LWB04"


class InvalidPermit(BudgetError):
    """A request for permits that makes no sense."""

    code = "budgets.invalid_permit"
    sqlstate = "LWB05"


class OwnersChoice(BudgetError):
    """Where workers call, and which key goes along, is for the owner of the schema to say; nothing was changed."""

    code = "budgets.owners_choice"
    sqlstate = "LWB06"


class PermitExpired(BudgetError):
    """The call was not sent in time, so it may no longer be: ask for another permit."""

    code = "budgets.permit_expired"


class PermitNotGranted(BudgetError):
    """No permit could be had in the time given for it, or none any more because the pool is closing."""

    code = "budgets.permit_not_granted"

    def __init__(
        self,
        message: str,
        *,
        fix: str | None = None,
        detail: str | None = None,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(message, fix=fix, detail=detail)
        self.retry_after = retry_after


class PermitLost(BudgetError):
    """The lease of a permit ended while its call was under way: it could not be renewed, and others may call now."""

    code = "budgets.permit_lost"


class KeyUnreadable(BudgetError):
    """The place where an API key should be found holds none."""

    code = "budgets.key_unreadable"


class KeyNotAllowed(KeyUnreadable):
    """The source of an API key is a file or variable that this process was not told it may read."""

    code = "budgets.key_not_allowed"


class UnknownField(BudgetError):
    """A provider, an endpoint or a key in `livewell.toml` has a field that such a thing does not have."""

    code = "budgets.unknown_field"


class InvalidField(BudgetError):
    """A field of a provider, an endpoint or a key in `livewell.toml` cannot be so."""

    code = "budgets.invalid_field"
