"""Notices of what was stored, as they are heard on `CHANGES_CHANNEL`. They are hints: any login may send one."""

from pydantic import TypeAdapter, ValidationError

_NOTICE: TypeAdapter[list[tuple[int, int]]] = TypeAdapter(list[tuple[int, int]])


def read_notice(payload: str) -> dict[int, int] | None:
    """The versions that a notice tells, by item; empty when all shall be compared, None when it is no notice at all."""
    try:
        return dict(_NOTICE.validate_json(payload, strict=True))
    except ValidationError:
        return None
