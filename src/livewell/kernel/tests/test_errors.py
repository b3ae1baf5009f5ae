"""Facts: one code, one line, known by their SQLSTATE."""

import pytest

from livewell.kernel import Database, LivewellError, NotPermitted, NotPrimary, fact_from, facts_by_code


async def test_what_sql_raises_arrives_as_the_fact_of_its_code(owner: Database) -> None:
    """A SQLSTATE leads to the class that declares it, with message, hint and detail."""
    raising = "raise exception using errcode = 'LWK01', message = 'empty', hint = 'fill it', detail = 'since noon'"
    with pytest.raises(NotPrimary) as caught:
        await owner.execute(f"do $$ begin {raising}; end $$")
    assert (caught.value.message, caught.value.fix, caught.value.detail) == ("empty", "fill it", "since noon")
    assert str(caught.value) == "empty (fill it) [kernel.not_primary]"


async def test_a_fact_is_one_line_whatever_the_driver_says(database: Database) -> None:
    """The driver appends hints and details to its text; a fact keeps them apart."""
    with pytest.raises(NotPermitted) as caught:
        await database.execute("create table livewell.mine (id integer)")
    assert "\n" not in str(caught.value)


def test_two_facts_cannot_share_a_code() -> None:
    """A code or SQLSTATE leads to one class; a second claim is a mistake of the program."""
    with pytest.raises(ValueError, match=r"kernel\.not_permitted"):
        type("Impostor", (LivewellError,), {"code": NotPermitted.code})
    with pytest.raises(ValueError, match="42501"):
        type("Impostor", (LivewellError,), {"sqlstate": NotPermitted.sqlstate})


def test_every_fact_of_the_kernel_is_found_by_its_code() -> None:
    """The reference page is written from this table."""
    assert facts_by_code()["kernel.not_permitted"] is NotPermitted


def test_what_is_not_ours_is_left_alone() -> None:
    """An error of the caller's own is no fact of ours."""
    assert fact_from(ValueError("mine")) is None
