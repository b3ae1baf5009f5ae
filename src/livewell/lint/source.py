"""One file as it is written: its tree, what its names stand for, and which parts of it are fetchers and models.

Nothing is imported: what a name stands for is read from the import statements. What comes from another file and is not
of a library known here is trusted, because that file is looked at by itself.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = Function | ast.ClassDef

_FETCHER = "Fetcher"
_MODELS = {"livewell.Model", "livewell.fetching.Model"}
_NO_MODELS = {"typing", "typing_extensions", "abc", "enum", "collections"}
_PLAIN_MODELS = {"pydantic.BaseModel", "pydantic.main.BaseModel"}


@dataclass(frozen=True)
class FetcherCode:
    """A fetcher: a class that derives from `Fetcher`, or what stands under `@app.type(…)`."""

    node: Scope
    declared_type: str | None

    @property
    def names_model(self) -> bool:
        """Whether a decorator has `model=…`."""
        calls = [decorator for decorator in self.node.decorator_list if isinstance(decorator, ast.Call)]
        return any(word.arg == "model" for call in calls for word in call.keywords)


@dataclass(frozen=True)
class Source:
    """A parsed file."""

    path: str
    tree: ast.Module

    @cached_property
    def names(self) -> dict[str, str]:
        """What each imported name stands for, in full."""
        names: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    names[alias.asname or alias.name.split(".")[0]] = (
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom):
                module = f"{'.' * node.level}{node.module or ''}"
                names |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in node.names}
        return names

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        return {node.name: node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)}

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Functions of the module itself, which a fetcher can call by name."""
        return {node.name: node for node in self.tree.body if isinstance(node, Function)}

    def full_name(self, node: ast.expr) -> str:
        """`aiohttp.ClientSession` for whatever the file calls it; empty for what is no name."""
        if isinstance(node, ast.Subscript):
            return self.full_name(node.value)
        if isinstance(node, ast.Name):
            return self.names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            inner = self.full_name(node.value)
            return f"{inner}.{node.attr}" if inner else ""
        return ""

    @cached_property
    def fetchers(self) -> list[FetcherCode]:
        found = []
        for node in ast.walk(self.tree):
            if not isinstance(node, Scope):
                continue
            declared = self._declared_type(node)
            if declared is not None or (isinstance(node, ast.ClassDef) and self._is_fetcher(node, set())):
                found.append(FetcherCode(node, declared))
        return found

    @cached_property
    def handlers(self) -> list[Function]:
        """Functions that run in the worker's loop beside fetchers: those under `@app.job(…)` and `@app.task(…)`."""
        return [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.AsyncFunctionDef)
            and any(_decorator_name(decorator) in {"job", "task"} for decorator in node.decorator_list)
        ]

    def reached_from(self, scope: Scope) -> list[Scope]:
        """The scope, and the functions of this file that it calls by name, and those that they call."""
        reached: dict[str, Function] = {}
        waiting: list[Scope] = [scope]
        while waiting:
            for node in ast.walk(waiting.pop()):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in reached:
                    called = self.functions.get(node.func.id)
                    if called is not None and called is not scope:
                        reached[node.func.id] = called
                        waiting.append(called)
        return [scope, *reached.values()]

    def model_of(self, fetcher: ast.ClassDef) -> ast.expr | None:
        """What the fetcher says its rows are: `Fetcher[Row]`, or `model = Row`."""
        for base in fetcher.bases:
            if isinstance(base, ast.Subscript):
                return base.slice
        for node in fetcher.body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and "model" in set_names(node):
                return node.value
        return None

    def is_livewell_model(self, node: ast.ClassDef) -> bool:
        return any(name in _MODELS for name in self.ancestry(node))

    def is_model(self, node: ast.ClassDef) -> bool:
        """Whether it derives from a model, or from something of another file that may be one."""
        return any("." in name and name.split(".")[0] not in _NO_MODELS for name in self.ancestry(node))

    def is_plain_model(self, node: ast.ClassDef) -> bool:
        """Whether all its strictness must be its own: Pydantic's defaults are loose."""
        ancestry = self.ancestry(node)
        return any(name in _PLAIN_MODELS for name in ancestry) and not any(name in _MODELS for name in ancestry)

    def ancestry(self, node: ast.ClassDef) -> list[str]:
        """The full names it derives from, through classes of this file."""
        found: list[str] = []
        waiting, seen = [node], {node.name}
        while waiting:
            for base in waiting.pop().bases:
                name = self.full_name(base)
                found.append(name)
                if name in self.classes and name not in seen:
                    seen.add(name)
                    waiting.append(self.classes[name])
        return found

    def _is_fetcher(self, node: ast.ClassDef, seen: set[str]) -> bool:
        for base in node.bases:
            name = self.full_name(base)
            if name.rpartition(".")[2] == _FETCHER:
                return True
            if name in self.classes and name not in seen and self._is_fetcher(self.classes[name], {*seen, name}):
                return True
        return False

    def _declared_type(self, node: Scope) -> str | None:
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and _decorator_name(decorator) == "type" and decorator.args:
                first = decorator.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    return first.value
        return None


def set_names(node: ast.stmt) -> set[str]:
    """The names a statement assigns to."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _decorator_name(decorator: ast.expr) -> str:
    """The last name of a decorator that is an attribute: `type` of `@app.type(…)`."""
    inner = decorator.func if isinstance(decorator, ast.Call) else decorator
    return inner.attr if isinstance(inner, ast.Attribute) else ""


def walk_code(scopes: list[Scope]) -> Iterator[ast.AST]:
    """Every node of the scopes once."""
    seen: set[int] = set()
    for scope in scopes:
        for node in ast.walk(scope):
            if id(node) not in seen:
                seen.add(id(node))
                yield node
