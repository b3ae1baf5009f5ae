"""The rules: a code for good, what it is about, and what to do instead."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One rule; `contract` is the capability or contract of the framework that breaking it goes round."""

    code: str
    name: str
    contract: str
    fix: str


def _rule(number: int, name: str, contract: str, fix: str) -> Rule:
    return Rule(code=f"LWL{number:03}", name=name, contract=contract, fix=fix)


NOT_READABLE = _rule(0, "file cannot be read", "", "mend the syntax, or leave the file out")
OWN_CLIENT = _rule(1, "own HTTP client", "P2, F5, F6", "ask by call.get(…), which counts, limits and checks")
OWN_TIMEOUT = _rule(2, "own timeout", "P3", "leave it to the endpoint's timeout, which is data")
NO_MODEL = _rule(3, "fetcher without a model", "F2", "write class X(Fetcher[Row]) with a Row that is a livewell.Model")
NOT_A_MODEL = _rule(4, "model that is none", "F2", "derive it from livewell.Model")
EXTRAS_ALLOWED = _rule(
    5, "model that takes unknown fields", "F2", 'derive it from livewell.Model, or say extra="forbid"'
)
NOT_STRICT = _rule(6, "model that converts", "F2", "derive it from livewell.Model, or say strict=True")
SWALLOWED = _rule(7, "error swallowed", "F5", "let it pass: the framework turns it into an outcome")
BLOCKING = _rule(8, "call that blocks the loop", "P1, P5", "await something, or use asyncio.to_thread")
OWN_WRITE = _rule(9, "write to the database", "F4, J5", "return the rows; they are stored with the job's end")
OTHER_TYPE = _rule(10, "name of another data type", "F1", "use the name that @app.type declares")
HIDDEN_FIELD = _rule(11, "default that hides a missing field", "F2", "drop the default; `| None` alone allows null")
BAD_ALLOWANCE = _rule(
    12, "allowance without effect", "", "write `# livewell: allow LWL001 the reason`, where it is needed"
)
NO_BOUNDS = _rule(13, "number without bounds", "F3", "say what cannot be: bounded(gt=0), bounded(ge=-1, le=1)")

RULES = (
    *(NOT_READABLE, OWN_CLIENT, OWN_TIMEOUT, NO_MODEL, NOT_A_MODEL, EXTRAS_ALLOWED, NOT_STRICT, SWALLOWED, BLOCKING),
    *(OWN_WRITE, OTHER_TYPE, HIDDEN_FIELD, BAD_ALLOWANCE, NO_BOUNDS),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One place that breaks one rule."""

    path: str
    line: int
    column: int
    code: str
    message: str
    fix: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.code} {self.message} ({self.fix})"
