"""Looks at files and says what is against the rules; imports none of them."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from livewell.lint.fetcher_rules import FETCHER_CHECKS, blocking
from livewell.lint.model_rules import check_model, models_of
from livewell.lint.rules import BAD_ALLOWANCE, NOT_READABLE, RULES, Finding, Rule
from livewell.lint.source import Source

_ALLOW = re.compile(r"#\s*livewell:\s*allow\b\s*(?P<codes>[A-Z0-9]+(?:\s*,\s*[A-Z0-9]+)*)?\s*(?P<reason>.*)")
# Words without which a file has no fetcher, no handler and no model; most files are told apart by that alone.
_CONCERNS = re.compile(r"Fetcher|\bModel\b|\.\s*(?:type|job|task)\b")
_CODES = {rule.code for rule in RULES}
_PASSED_OVER = {"__pycache__", "node_modules", "site-packages", "build", "dist"}


@dataclass(frozen=True, kw_only=True)
class _Allowance:
    """A comment that allows something on its line."""

    line: int
    column: int
    codes: tuple[str, ...]
    reason: str


def lint_paths(paths: Iterable[Path]) -> list[Finding]:
    """Findings in files, and in the Python files below folders; in the order of place."""
    files = dict.fromkeys(file for path in paths for file in python_files(path))
    return [finding for file in files for finding in lint_file(file)]


def python_files(path: Path) -> Iterator[Path]:
    """The file itself, or the Python files below a folder, but for hidden ones and installed packages."""
    if not path.is_dir():
        yield path
        return
    for inner in sorted(path.iterdir()):
        if inner.name.startswith(".") or inner.name in _PASSED_OVER or (inner / "pyvenv.cfg").exists():
            continue
        if inner.is_dir() or inner.suffix == ".py":
            yield from python_files(inner)


def lint_file(path: Path) -> list[Finding]:
    try:
        with tokenize.open(path) as file:
            return lint_text(file.read(), str(path))
    except (SyntaxError, UnicodeDecodeError) as error:
        return [_unreadable(str(path), error)]


def lint_text(text: str, path: str = "<text>") -> list[Finding]:
    """Findings in code that is at hand."""
    try:
        source = Source(path, ast.parse(text))
        allowances = list(_allowances(text)) if _ALLOW.search(text) else []
    except (SyntaxError, ValueError, tokenize.TokenError) as error:
        return [_unreadable(path, error)]
    findings = dict.fromkeys(_finding(path, *found) for found in (_found(source) if _CONCERNS.search(text) else ()))
    kept = [finding for finding in findings if not any(_allows(allowance, finding) for allowance in allowances)]
    kept += [bad for allowance in allowances for bad in _bad_allowance(path, allowance, list(findings))]
    return sorted(kept, key=lambda finding: (finding.line, finding.column, finding.code))


def _found(source: Source) -> Iterator[tuple[Rule, ast.AST, str]]:
    for fetcher in source.fetchers:
        for check in FETCHER_CHECKS:
            yield from check(source, fetcher)
        yield from blocking(source, fetcher.node)
    for handler in source.handlers:
        yield from blocking(source, handler)
    for model in models_of(source):
        yield from check_model(source, model)


def _finding(path: str, rule: Rule, node: ast.AST, message: str) -> Finding:
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
    return Finding(path=path, line=line, column=column, code=rule.code, message=message, fix=rule.fix)


def _unreadable(path: str, error: Exception) -> Finding:
    line = getattr(error, "lineno", None) or 1
    column = getattr(error, "offset", None) or 1
    message = f"the file cannot be read: {getattr(error, 'msg', None) or error}"
    return Finding(path=path, line=line, column=column, code=NOT_READABLE.code, message=message, fix=NOT_READABLE.fix)


def _allowances(text: str) -> Iterator[_Allowance]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        found = _ALLOW.match(token.string) if token.type == tokenize.COMMENT else None
        if found is not None:
            codes = tuple(code.strip() for code in (found["codes"] or "").split(",") if code.strip())
            yield _Allowance(
                line=token.start[0], column=token.start[1] + 1, codes=codes, reason=found["reason"].strip(" -–—:.")
            )


def _allows(allowance: _Allowance, finding: Finding) -> bool:
    """Only with a reason: an allowance without one is a finding beside the finding."""
    return bool(allowance.reason) and allowance.line == finding.line and finding.code in allowance.codes


def _bad_allowance(path: str, allowance: _Allowance, findings: list[Finding]) -> Iterator[Finding]:
    def bad(message: str) -> Finding:
        return Finding(
            path=path,
            line=allowance.line,
            column=allowance.column,
            code=BAD_ALLOWANCE.code,
            message=message,
            fix=BAD_ALLOWANCE.fix,
        )

    if not allowance.codes:
        yield bad("an allowance names no code")
    for code in allowance.codes:
        if code not in _CODES:
            yield bad(f"there is no rule {code}")
        elif not allowance.reason:
            yield bad(f"an allowance of {code} gives no reason")
        elif not any(finding.line == allowance.line and finding.code == code for finding in findings):
            yield bad(f"there is nothing here that {code} is about")
