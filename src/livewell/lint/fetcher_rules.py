"""Rules on the code of fetchers: what goes round the framework."""

import ast
from collections.abc import Callable, Iterator

from livewell.lint.rules import (
    BLOCKING,
    NO_MODEL,
    NOT_A_MODEL,
    OTHER_TYPE,
    OWN_CLIENT,
    OWN_TIMEOUT,
    OWN_WRITE,
    SWALLOWED,
    Rule,
)
from livewell.lint.source import FetcherCode, Scope, Source, walk_code

Found = tuple[Rule, ast.AST, str]
Check = Callable[[Source, FetcherCode], Iterator[Found]]

_CLIENTS = (
    *("aiohttp", "httpx", "requests", "urllib3", "urllib.request", "http.client", "niquests", "pycurl", "treq"),
    *("websockets", "grequests", "aiohttp_retry"),
)
_TIMEOUTS = {
    *("asyncio.timeout", "asyncio.timeout_at", "asyncio.wait_for", "async_timeout.timeout", "anyio.fail_after"),
    *("anyio.move_on_after", "signal.alarm"),
}
_BLOCKING = (
    *("time.sleep", "subprocess.", "os.system", "os.popen", "socket.", "requests.", "urllib.request.", "urllib3."),
    *("http.client.", "psycopg2.", "sqlite3.", "shutil.", "input", "open", "io.open"),
)
_FILE_METHODS = {"read_text", "read_bytes", "write_text", "write_bytes"}
_DRIVERS = ("asyncpg", "psycopg", "psycopg2", "psycopg_pool", "sqlalchemy", "sqlite3", "pg8000", "aiopg", "databases")
_WRITES = {"execute", "executemany", "copy_records_to_table", "copy_to_table", "executescript"}
_STATEMENTS = ("insert into ", "update ", "delete from ", "merge into ", "copy ", "truncate ")
_BROAD = {"Exception", "BaseException", "builtins.Exception", "builtins.BaseException"}
_NO_ROWS = {"dict", "list", "Any", "typing.Any", "object", "str", "typing.Dict", "Mapping", "collections.abc.Mapping"}


def own_client(source: Source, fetcher: FetcherCode) -> Iterator[Found]:
    """Imports and uses of HTTP clients."""
    for node, name in _uses(source, fetcher.node):
        client = next((package for package in _CLIENTS if name == package or name.startswith(f"{package}.")), None)
        if client is not None:
            yield OWN_CLIENT, node, f"a fetcher uses {client}"


def own_timeout(source: Source, fetcher: FetcherCode) -> Iterator[Found]:
    for node in walk_code(source.reached_from(fetcher.node)):
        if not isinstance(node, ast.Call):
            continue
        name = source.full_name(node.func)
        if name in _TIMEOUTS:
            yield OWN_TIMEOUT, node, f"a fetcher sets a timeout of its own with {name}"
        elif any(word.arg == "timeout" for word in node.keywords):
            yield OWN_TIMEOUT, node, "a fetcher passes a timeout of its own"


def no_model(source: Source, fetcher: FetcherCode) -> Iterator[Found]:
    """A fetcher without rows to be checked against."""
    if not isinstance(fetcher.node, ast.ClassDef):
        if not fetcher.names_model:
            yield NO_MODEL, fetcher.node, f"{fetcher.node.name} says nothing of its rows"
        return
    model = source.model_of(fetcher.node)
    if model is None:
        if not _inherits_model(source, fetcher.node):
            yield NO_MODEL, fetcher.node, f"{fetcher.node.name} says nothing of its rows"
        return
    name = source.full_name(model)
    if name in _NO_ROWS or not name:
        yield NO_MODEL, model, f"{fetcher.node.name} takes any row"
    elif name in source.classes and not source.is_model(source.classes[name]):
        yield NOT_A_MODEL, source.classes[name], f"{name} checks nothing"


def _inherits_model(source: Source, node: ast.ClassDef) -> bool:
    """Whether a class of this file above it has one, or a class of another file may have."""
    for name in source.ancestry(node):
        if name in source.classes:
            if source.model_of(source.classes[name]) is not None:
                return True
        elif name.rpartition(".")[2] != "Fetcher":
            return True
    return False


def swallowed(source: Source, fetcher: FetcherCode) -> Iterator[Found]:
    """Handlers of everything that do not raise again."""
    for node in walk_code(source.reached_from(fetcher.node)):
        if isinstance(node, ast.ExceptHandler) and _is_broad(source, node) and not _raises(node):
            what = "everything" if node.type is None else source.full_name(node.type) or "Exception"
            yield SWALLOWED, node, f"a fetcher catches {what} and goes on"
        elif isinstance(node, ast.Call) and _suppresses_all(source, node):
            yield SWALLOWED, node, "a fetcher suppresses every error"


def _suppresses_all(source: Source, call: ast.Call) -> bool:
    if source.full_name(call.func) != "contextlib.suppress":
        return False
    return any(source.full_name(kind) in _BROAD for kind in call.args)


def _is_broad(source: Source, handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(source.full_name(kind) in _BROAD for kind in kinds)


def _raises(handler: ast.ExceptHandler) -> bool:
    return any(isinstance(node, ast.Raise) for node in ast.walk(handler))


def own_write(source: Source, fetcher: FetcherCode) -> Iterator[Found]:
    """Uses of drivers, and statements that write, whatever they are sent by."""
    for node, name in _uses(source, fetcher.node):
        if name.split(".")[0] in _DRIVERS:
            yield OWN_WRITE, node, f"a fetcher uses {name.split('.')[0]}"
    for node in walk_code(source.reached_from(fetcher.node)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            first = node.args[0]
            said = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
            if node.func.attr in _WRITES or said.lstrip().lower().startswith(_STATEMENTS):
                yield OWN_WRITE, node, f"a fetcher sends a statement with .{node.func.attr}()"


def other_type(_: Source, fetcher: FetcherCode) -> Iterator[Found]:
    """The data type written a second time, and differently."""
    declared = fetcher.declared_type
    if declared is None:
        return
    for node in ast.walk(fetcher.node):
        for said in _type_names(node):
            if isinstance(said.value, str) and said.value != declared:
                yield OTHER_TYPE, said, f"{said.value!r} in the fetcher of {declared!r}"


def _type_names(node: ast.AST) -> Iterator[ast.Constant]:
    """Strings that `data_type` is set to or compared with."""
    if isinstance(node, ast.Compare) and any(_is_data_type(side) for side in (node.left, *node.comparators)):
        yield from (side for side in (node.left, *node.comparators) if isinstance(side, ast.Constant))
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(_is_data_type(target) for target in targets) and isinstance(node.value, ast.Constant):
            yield node.value


def _is_data_type(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id == "data_type") or (
        isinstance(node, ast.Attribute) and node.attr == "data_type"
    )


def blocking(source: Source, scope: Scope) -> Iterator[Found]:
    """Calls that stop everybody else in the process while they last."""
    for node in walk_code(source.reached_from(scope)):
        if not isinstance(node, ast.Call):
            continue
        name = source.full_name(node.func)
        if any(name == blocking or (blocking.endswith(".") and name.startswith(blocking)) for blocking in _BLOCKING):
            yield BLOCKING, node, f"{name}() blocks"
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _FILE_METHODS:
            yield BLOCKING, node, f".{node.func.attr}() blocks"


def _uses(source: Source, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """Names with a full name, and modules imported within; each place once, by its longest name."""
    inner: set[int] = set()
    for node in walk_code(source.reached_from(scope)):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node, node.module or ""
        elif isinstance(node, ast.Attribute | ast.Name) and id(node) not in inner:
            parts = _parts(node)
            inner |= {id(part) for part in parts}
            if isinstance(parts[-1], ast.Name) and parts[-1].id in source.names:
                yield node, source.full_name(node)


def _parts(node: ast.expr) -> list[ast.expr]:
    """A dotted name, the name before its last dot, and so on to the name it begins with."""
    parts = [node]
    while isinstance(parts[-1], ast.Attribute):
        parts.append(parts[-1].value)
    return parts


FETCHER_CHECKS: tuple[Check, ...] = (own_client, own_timeout, no_model, swallowed, own_write, other_type)
