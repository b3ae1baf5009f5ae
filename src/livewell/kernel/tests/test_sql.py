"""Named statements, and files cut into statements."""

import pytest

from livewell.kernel import Queries
from livewell.kernel.sql_statements import split_statements

_TEXT = """
-- name: one
-- The first.
select 1;

-- name: two
-- The second.
select ';'
  from things
"""


def test_statements_are_found_by_name() -> None:
    """Each name leads to its own statement, without the semicolon at its end."""
    queries = Queries.parse(_TEXT)
    assert queries.names() == ["one", "two"]
    assert queries["one"].endswith("select 1")
    assert queries["two"].endswith("select ';'\n  from things")


def test_a_name_used_twice_is_refused() -> None:
    """One of two statements of the same name would silently never run."""
    with pytest.raises(ValueError, match="twice"):
        Queries.parse("-- name: one\nselect 1;\n-- name: one\nselect 2;")


def test_a_file_is_cut_only_where_a_statement_ends() -> None:
    """Semicolons in strings, names, bodies and comments end nothing."""
    statements = [
        "select ';' || 'it''s;'",
        r"select E'\';' as \"a;b\"".replace('\\"', '"'),
        "do $body$ begin perform 1; end; $body$",
        "select $$;$$ /* ; */",
        "select 2 -- ;",
    ]
    assert split_statements(";\n".join(statements) + "\n;-- the end;\n") == statements


def test_what_says_nothing_is_no_statement() -> None:
    """Empty pieces and pieces of comment alone are left out."""
    assert split_statements("-- only; comment\n;;/* and; this */;\n") == []
