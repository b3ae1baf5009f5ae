"""Facts about data types, their keys and their gates."""

from collections.abc import Sequence

from livewell.kernel import LivewellError
from livewell.registry.types import Finding


class RegistryError(LivewellError):
    """Something about a data type."""

    code = "registry.error"


class UnknownType(RegistryError):
    """No data type of that name is declared."""

    code = "registry.unknown_type"
    sqlstate = "LWR01"


class InvalidTtl(RegistryError):
    """A TTL is missing or not positive: nothing is fresh by accident."""

    code = "registry.invalid_ttl"
    sqlstate = "LWR02"


class InvalidType(RegistryError):
    """A data type cannot be as asked; nothing was changed."""

    code = "registry.invalid_type"
    sqlstate = "LWR03"
    findings: "Sequence[Finding]" = ()

    @classmethod
    def because(cls, findings: "Sequence[Finding]") -> "InvalidType":
        """Everything that is wrong with types, in one fact."""
        fixes = dict.fromkeys(finding.fix for finding in findings if finding.fix)
        messages = "; ".join(f"type {finding.data_type}: {finding.message}" for finding in findings)
        fact = cls(messages, fix="; ".join(fixes) or None)
        fact.findings = tuple(findings)
        return fact


class TypeInUse(RegistryError):
    """A data type that has refreshes, items, records or keys is not removed; nothing was changed."""

    code = "registry.type_in_use"
    sqlstate = "LWR04"


class InvalidKeys(RegistryError):
    """Keys that are none of their type, not in its catalogue, or in a table of the user's; nothing was changed."""

    code = "registry.invalid_keys"
    sqlstate = "LWR05"


class UnknownKey(RegistryError):
    """The type takes known keys only, and the key is not in its catalogue; nothing was changed."""

    code = "registry.unknown_key"
    sqlstate = "LWR07"


class InvalidCalendar(RegistryError):
    """Sessions of an exchange, or a rule for keys, that cannot be so; nothing was changed."""

    code = "registry.invalid_calendar"
    sqlstate = "LWR06"


class CalendarUnavailable(RegistryError):
    """The sessions of an exchange cannot be had: the extra `market` is not installed or does not know it."""

    code = "registry.calendar_unavailable"


class ReadOnlyRegistry(RegistryError):
    """Only the owner of the schema writes to the registry; nothing was changed."""

    code = "registry.read_only"


class UnknownTypeField(RegistryError):
    """A data type in `livewell.toml` has a field that such a thing does not have."""

    code = "registry.unknown_field"
