"""Contract 20: what SQL cannot hold of application code is held by the linter, and the linter runs."""

from pathlib import Path

import pytest

from livewell.lint import lint_paths, lint_text
from livewell.lint.tests.snippets import GOOD_FETCH, fetching, modelled
from tests.house.project import PACKAGE, ROOT, python_files

# By the contract that the code goes round, and the rule that finds it.
ROUNDABOUT = {
    "5": ("LWL005", modelled('model_config = ConfigDict(extra="ignore")\nsymbol: str')),
    "6a": ("LWL001", fetching("return [httpx.get(call.key).json()]", before="import httpx")),
    "14": ("LWL009", fetching('await app.database.execute("update quotes set price = 1")\nreturn []')),
    "19": ("LWL008", fetching("time.sleep(1)\nreturn []", before="import time")),
    "21": ("LWL002", fetching(f"async with asyncio.timeout(60):\n    {GOOD_FETCH}")),
}
CHECKS = "livewell.lint.linter"


@pytest.mark.parametrize("contract", ROUNDABOUT)
def test_contract_20_going_round_a_contract_is_found(contract: str) -> None:
    """Contract 20: a fetcher that goes round a contract is found before it runs, by a rule of that contract."""
    _is_found(contract)


@pytest.mark.parametrize(
    ("contract", "guard", "instead"),
    [
        ("5", "check_model", lambda *_: ()),
        ("6a", "FETCHER_CHECKS", ()),
        ("14", "FETCHER_CHECKS", ()),
        ("19", "blocking", lambda *_: ()),
        ("21", "FETCHER_CHECKS", ()),
    ],
)
def test_contract_20_needs_its_checks(
    contract: str, guard: str, instead: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its check the code that goes round a contract passes."""
    monkeypatch.setattr(f"{CHECKS}.{guard}", instead)
    with pytest.raises(AssertionError):
        _is_found(contract)


def _is_found(contract: str) -> None:
    code, text = ROUNDABOUT[contract]
    assert code in {finding.code for finding in lint_text(text)}


def test_contract_20_what_is_shipped_is_linted() -> None:
    """Contract 20: what we ship breaks no rule, and others have the same rules as a hook before they commit."""
    shipped = [path for path in python_files("src") if "tests" not in path.relative_to(PACKAGE).parts]
    assert [str(finding) for finding in lint_paths(shipped)] == []
    assert "entry: livewell lint" in (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")


def test_contract_20_a_file_among_others_is_read(tmp_path: Path) -> None:
    """What is shipped could not be clean for not being looked at: one bad file in a folder is found."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "fetchers.py").write_text(ROUNDABOUT["6a"][1])
    assert {finding.path for finding in lint_paths([tmp_path])} == {str(tmp_path / "inner" / "fetchers.py")}
