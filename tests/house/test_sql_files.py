"""Function files and migrations: what can be seen in the files alone."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from livewell.kernel import facts_by_code
from tests.house.project import (
    PACKAGE,
    SqlFunction,
    migrations,
    place,
    sql_functions,
    without_comments,
)
from tests.house.surface import load_every_room, sqlstates

_ROLES = {"service", "user", "anon", "owner", "internal"}
_ALONE = ({"internal"}, {"owner"})
_LANDED = Path(__file__).with_name("landed_migrations.json")
_RANGES = {
    "kernel": range(1, 10),
    "settings": range(10, 20),
    "audit": range(20, 30),
    "budgets": range(30, 60),
    "jobs": range(60, 80),
    "schedule": range(80, 100),
    "registry": range(100, 110),
    "access": range(110, 120),
    "freshness": range(120, 150),
    "presence": range(150, 170),
    "fetching": range(170, 190),
    "live": range(190, 200),
}
_WRITES = re.compile(
    r"\b(insert\s+into|update\s+livewell_private\.|delete\s+from|merge\s+into|truncate|pg_notify)\b", re.IGNORECASE
)
# Where a statement is made of names that are Livewell's own by then: of its records, its catalogue, its tasks, of the
# columns of a table that a function of ours names, and of a trigger's transition tables, which run nothing.
_OWN_NAMES = {"judge_items", "ask_catalogue", "run_task", "describe_thing", "write_declared", "tell_written"}
_MAKES = re.compile(
    r"create\s+or\s+replace\s+(?:function|procedure)\s+livewell(?:_private)?\.(\w+)\s*\(", re.IGNORECASE
)


def _named(function: SqlFunction) -> str:
    return function.name


functions = pytest.mark.parametrize("function", sql_functions(), ids=_named)


@functions
def test_a_function_file_makes_one_function_of_its_name(function: SqlFunction) -> None:
    """One file, one function, one name: what the file is called is what is called."""
    assert _MAKES.findall(function.statement) == [function.name]


@functions
def test_a_function_says_what_it_decides_and_for_whom(function: SqlFunction) -> None:
    """The header is a sentence and a `for:` line of known roles; without one the migrator would grant nothing."""
    prose = " ".join(line for line in function.header if not line.startswith(("for:", "runs as:")))
    assert prose.strip().endswith("."), f"{place(function.path)} does not say what it decides"
    assert function.audience, f"{place(function.path)} does not say for whom it is"
    assert function.audience <= _ROLES
    assert function.audience in _ALONE or not function.audience & {"internal", "owner"}


@functions
def test_a_function_pins_its_search_path_and_has_no_more_rights_than_it_needs(function: SqlFunction) -> None:
    """`search_path = pg_catalog, pg_temp`: no caller's type, function or operator slips in.

    A body that is one expression after `return` is bound when it is made, and no path is asked later; only without a
    path can it be part of its caller's plan.

    The owner's rights only for what others may call: an internal one is called by those, which have them already. What
    touches what is not Livewell's has the rights of a role that has nothing else.
    """
    head = re.split(r"\bas\s+\$", function.statement.lower(), maxsplit=1)[0]
    is_bound = re.search(r"\blanguage sql immutable\s+return\b", head) is not None
    pins = re.search(r"\bset\s+search_path\s*=\s*pg_catalog, pg_temp\b", head) is not None
    assert is_bound or pins, f"{place(function.path)}: search_path"
    definer = re.search(r"\bsecurity\s+definer\b", head) is not None
    assert definer == (function.audience != {"internal"} or function.is_foreign), (
        f"{place(function.path)}: security definer"
    )


@functions
def test_what_is_not_livewells_is_touched_by_a_role_that_has_nothing_of_it(function: SqlFunction) -> None:
    """A statement made of names runs as livewell_reader or livewell_writer, unless the names are Livewell's own; and
    who calls such a function looks first that it still does. What waits for the commit never runs as the owner.
    """
    if function.is_foreign:
        assert function.audience == {"internal"}
        return
    for called in sorted(function.calls & {other.name for other in sql_functions() if other.is_foreign}):
        assert f"livewell_private.require_foreign('{called}')" in function.statement, (
            f"{place(function.path)}: {called}"
        )
    made = re.findall(r"^\s*(?:for\b.*\bin\s+)?execute\s+(.*)", function.statement, re.IGNORECASE | re.MULTILINE)
    strange = [statement for statement in made if not re.match(r"format\(('[^']*\blivewell_private\.%I|$)", statement)]
    assert not strange or function.name in _OWN_NAMES, f"{place(function.path)}: {strange}"
    assert not re.search(r"\bset\s+constraints\b", function.statement, re.IGNORECASE), place(function.path)


@functions
def test_parameters_and_variables_bear_their_prefix(function: SqlFunction) -> None:
    """Parameters are `p_`, variables `v_`: neither can be mistaken for a column."""
    declared = re.findall(r"^\s*(\w+)\s+[\w.\[\]% ]+(?::=[^;]*)?;", _declarations(function.statement), re.MULTILINE)
    strangers = [name for name in declared if not name.startswith(("v_", "c_"))]
    assert strangers == [], f"{place(function.path)}: {strangers}"


def test_functions_that_write_refuse_on_a_replica() -> None:
    """What decides begins with require_primary(); who writes through another function of ours decides too."""
    by_name = {function.name: function for function in sql_functions()}
    writing = {name for name, function in by_name.items() if _WRITES.search(function.statement)}
    while more := {name for name, function in by_name.items() if function.calls & writing} - writing:
        writing |= more
    silent = [
        place(by_name[name].path)
        for name in sorted(writing)
        if by_name[name].audience != {"internal"}
        and "livewell_private.require_primary()" not in by_name[name].statement
    ]
    assert not silent, "\n".join(silent)


def test_nobody_notifies_into_a_full_queue() -> None:
    """Who notifies reads first whether the server's queue is filling up, or fails at the commit: `notify` for
    all, and the enqueue of one job in a statement that it has anyway.
    """
    callers = {function.name: function for function in sql_functions() if "pg_notify(" in function.statement}
    assert set(callers) == {"notify", "enqueue_job"}
    assert all("livewell_private.notification_state" in function.statement for function in callers.values())


def test_nothing_takes_an_advisory_lock() -> None:
    """Any login may take any advisory key, and hold it for ever: ours are rows of private tables."""
    files = [path for suffix in ("*.sql", "*.py") for path in PACKAGE.rglob(suffix)]
    takers = {
        place(path)
        for path in files
        if not {"tests", "testing"} & set(path.parts)
        and re.search(r"advisory_\w*lock", path.read_text(encoding="utf-8"))
    }
    assert takers == set()


def test_no_function_is_made_outside_its_file() -> None:
    """A migration carries tables and data; a function in one would be a second source that never changes again."""
    makers = [place(path) for path in migrations() if _MAKES.search(without_comments(path.read_text(encoding="utf-8")))]
    assert not makers, "\n".join(makers)


def test_migrations_are_numbered_in_their_room() -> None:
    """NNNN_room_what.sql: the number is unique over all rooms and lies in the room's range."""
    numbers = []
    for path in migrations():
        room = path.relative_to(PACKAGE).parts[0]
        match = re.fullmatch(rf"(\d{{4}})_{room}_[a-z0-9_]+\.sql", path.name)
        assert match, f"{place(path)} is not called NNNN_{room}_what.sql"
        number = int(match[1])
        assert room not in _RANGES or number in _RANGES[room], f"{place(path)} is outside the numbers of {room}"
        numbers.append(number)
    assert len(numbers) == len(set(numbers)), "two migrations have one number"


def test_a_landed_migration_is_never_edited() -> None:
    """Databases out there have run it: its checksum is recorded when it lands, and only ever added to."""
    landed: dict[str, str] = json.loads(_LANDED.read_text(encoding="utf-8"))
    now = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in migrations()}
    assert {name: now.get(name) for name in landed} == landed, "a landed migration was edited or removed"
    assert set(now) == set(landed), "record new migrations: python -m tests.house.landed"


def test_every_raised_code_is_a_declared_fact() -> None:
    """A SQLSTATE of ours raised in SQL is known to Python, or the caller would see a bare driver error."""
    load_every_room()
    known = {state for fact in facts_by_code().values() for state in sqlstates(fact)}
    raised = {
        state
        for function in sql_functions()
        for state in re.findall(r"errcode\s*=\s*'(LW\w{3})'", function.statement, re.IGNORECASE)
    }
    assert raised <= known


def _declarations(statement: str) -> str:
    match = re.search(r"\bdeclare\b(.*?)\bbegin\b", statement, re.IGNORECASE | re.DOTALL)
    return match[1] if match else ""
