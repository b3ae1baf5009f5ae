"""Every surface a person can touch is in the reference, and the reference names nothing that is not there."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client import REGISTRY

import livewell
from livewell.kernel import Database, facts_by_code, parse_duration
from livewell.lint import RULES
from livewell.simulator import FAULTS
from tests.house.project import REFERENCE, ROOT, SqlFunction, sql_functions
from tests.house.signatures import HEADING, signatures
from tests.house.surface import commands, load_every_room, sqlstates

_HEADING = re.compile(r"^#{2,4} `([^`]+)`", re.MULTILINE)
_ROW = re.compile(r"^\| `([^`]+)`", re.MULTILINE)
_SETTING = re.compile(r"^\| `([a-z_.]+)` \| (\w+) \| ([^|]+) \| [^|]*\| (.+) \|$", re.MULTILINE)


def _page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def _leaves() -> dict[str, Any]:
    return {path: command for path, command in commands().items() if not hasattr(command, "commands")}


def test_every_command_is_in_the_reference() -> None:
    """Each command has a heading in cli.md, and each heading there is a command."""
    _same(set(_HEADING.findall(_page("cli.md"))), set(_leaves()))


def test_every_option_is_in_the_reference() -> None:
    """Under a command's heading stand all its options and arguments."""
    parts = _HEADING.split(_page("cli.md"))
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    missing = [
        f"{path} {name}"
        for path, command in _leaves().items()
        for name in _parameters(command)
        if not re.search(rf"`{re.escape(name)}[ `]", sections.get(path, ""))
    ]
    assert not missing, "\n".join(missing)


def test_every_command_explains_itself() -> None:
    """`--help` of each command begins with a sentence."""
    assert [path for path, command in commands().items() if not (command.help or "").strip()] == []


def test_every_error_code_is_in_the_reference() -> None:
    """errors.md has one row per declared fact, with its SQLSTATEs of ours, and no other."""
    load_every_room()
    facts = facts_by_code()
    page = _page("errors.md")
    _same(set(_ROW.findall(page)), set(facts))
    for code, fact in facts.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{code}`"))
        assert [state for state in sqlstates(fact) if state not in row] == [], f"the row of {code} lacks its SQLSTATE"


def test_every_fact_says_what_it_is() -> None:
    """Each fact class has a docstring of its own and a code of the form room.fact."""
    load_every_room()
    facts = facts_by_code()
    assert [code for code, fact in facts.items() if not (fact.__doc__ or "").strip()] == []
    assert [code for code in facts if not re.fullmatch(r"[a-z]+\.[a-z_]+", code)] == []


def test_every_metric_is_in_the_reference() -> None:
    """metrics.md has one row per metric of ours, and no other."""
    load_every_room()
    metrics = {family.name for family in REGISTRY.collect() if family.name.startswith("livewell")}
    documented = {name.removesuffix("_total") for name in _ROW.findall(_page("metrics.md"))}
    _same(documented, metrics)


async def test_every_setting_is_in_the_reference(owner: Database) -> None:
    """settings.md has one row per setting of a new database, with its type, its value and its meaning, and no other."""
    rows = await owner.fetch(
        "select name, type, description, value, case type when 'duration' then value::interval end as duration"
        " from livewell_private.setting"
    )
    page = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", _page("settings.md"))
    documented = {name: rest for name, *rest in _SETTING.findall(page)}
    _same(set(documented), {row["name"] for row in rows})
    for row in rows:
        kind, shipped, meaning = documented[row["name"]]
        assert (row["name"], kind, meaning) == (row["name"], row["type"], row["description"])
        if row["duration"] is None:
            assert (row["name"], shipped.replace(",", "")) == (row["name"], row["value"])
        else:
            assert (row["name"], parse_duration(shipped)) == (row["name"], row["duration"])


@pytest.mark.parametrize("function", sql_functions(), ids=lambda function: function.name)
def test_every_public_function_is_in_the_reference(function: SqlFunction) -> None:
    """Functions are the product's surface for other languages: sql.md has those a role may call, and no others."""
    documented = function.name in {*_HEADING.findall(_page("sql.md")), *_ROW.findall(_page("sql.md"))}
    assert documented == (function.audience != {"internal"})


def test_every_signature_is_in_the_reference() -> None:
    """The section of signatures in sql.md is what the function files say: `python -m tests.house.signatures`."""
    assert _page("sql.md").partition(HEADING)[2] == signatures().removeprefix(HEADING)


async def test_every_parameter_of_a_described_function_is_in_the_reference(owner: Database) -> None:
    """A function with a heading of its own in sql.md has all its parameters there, and only those."""
    rows = await owner.fetch(
        "select proname as name, array(select n from unnest(proargnames[:pronargs]) n) as parameters"
        " from pg_proc where pronamespace = 'livewell'::regnamespace"
    )
    parameters = {row["name"]: set(row["parameters"]) for row in rows}
    parts = _HEADING.split(_page("sql.md").partition("## For workers")[0])
    for name, section in zip(parts[1::2], parts[2::2], strict=True):
        assert set(re.findall(r"`(p_\w+)`", section)) == parameters[name], name


async def test_every_view_is_in_the_reference(owner: Database) -> None:
    """sql.md has the views a role may read, and no others."""
    rows = await owner.fetch(
        "select relname as name from pg_class where relnamespace = 'livewell'::regnamespace and relkind = 'v'"
        " and has_table_privilege('livewell_service', oid, 'select')"
    )
    _same(set(_ROW.findall(_page("sql.md").partition("## Views")[2])), {row["name"] for row in rows})


def test_every_fault_of_the_simulator_is_in_the_reference() -> None:
    """simulator.md has one row per fault, in the words of `livewell simulate --faults`, and no other."""
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", _page("simulator.md").partition("## What can")[2], re.MULTILINE))
    assert rows == {kind.value: said for kind, said in FAULTS.items()}


def test_every_rule_of_the_linter_is_in_the_reference() -> None:
    """lint.md has one row per rule, in the words of `livewell lint --rules`, and no other."""
    rows = re.findall(r"^\| `(LWL\d+)` \| ([^|]+) \| [^|]+ \| (.+) \|$", _page("lint.md"), re.MULTILINE)
    assert rows == [(rule.code, rule.name, rule.fix.replace("|", r"\|")) for rule in RULES]


def test_every_environment_variable_is_in_the_reference() -> None:
    """What the program reads from its environment is written down in cli.md."""
    read = {
        name
        for path in (ROOT / "src").rglob("*.py")
        if "tests" not in path.parts and "testing" not in path.parts
        for name in re.findall(r"[\"'](LIVEWELL_[A-Z_]+|DATABASE_[A-Z_]+)[\"']", path.read_text(encoding="utf-8"))
    }
    assert [name for name in sorted(read) if f"`{name}`" not in _page("cli.md")] == []


def test_what_a_program_imports_is_in_the_reference() -> None:
    """Every name of `livewell.__all__` is in python.md."""
    page = _page("python.md")
    assert [name for name in livewell.__all__ if f"`{name}" not in page] == []


def _parameters(command: Any) -> Iterator[str]:
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            yield parameter.metavar or parameter.name.upper()
        elif not parameter.hidden and parameter.name != "help":
            yield max(parameter.opts, key=len)


def _same(documented: set[str], there: set[str]) -> None:
    assert not there - documented, f"not in the reference: {sorted(there - documented)}"
    assert not documented - there, f"in the reference, but not there: {sorted(documented - there)}"
