"""Rules on models: whatever would let an answer in that is not what was declared."""

import ast
from collections.abc import Iterator

from livewell.lint.rules import EXTRAS_ALLOWED, HIDDEN_FIELD, NO_BOUNDS, NOT_STRICT, Rule
from livewell.lint.source import Source, set_names

Found = tuple[Rule, ast.AST, str]

_LOOSE = {"allow", "ignore"}
_MAKERS = {"bounded", "Field"}
_NUMBERS = {"int", "float", "decimal.Decimal", "Decimal"}
_BOUNDS = {"gt", "ge", "lt", "le", "multiple_of"}
_BOUND_TYPES = {"annotated_types.Gt", "annotated_types.Ge", "annotated_types.Lt", "annotated_types.Le"}


def models_of(source: Source) -> list[ast.ClassDef]:
    """Livewell's models, the models that fetchers name, and the models within those."""
    found = {name: node for name, node in source.classes.items() if source.is_livewell_model(node)}
    waiting = [
        source.full_name(model)
        for fetcher in source.fetchers
        if isinstance(fetcher.node, ast.ClassDef) and (model := source.model_of(fetcher.node)) is not None
    ]
    waiting += [name for node in found.values() for name in _named_in(source, node)]
    while waiting:
        name = waiting.pop()
        if name in source.classes and name not in found and source.is_model(source.classes[name]):
            found[name] = source.classes[name]
            waiting += _named_in(source, found[name])
    return sorted(found.values(), key=lambda node: node.lineno)


def _named_in(source: Source, node: ast.ClassDef) -> list[str]:
    """Classes of this file that it derives from or has as fields."""
    annotations = [line.annotation for line in node.body if isinstance(line, ast.AnnAssign)]
    names = {leaf.id for annotation in annotations for leaf in ast.walk(annotation) if isinstance(leaf, ast.Name)}
    return [name for name in (*names, *source.ancestry(node)) if name in source.classes]


def check_model(source: Source, node: ast.ClassDef) -> Iterator[Found]:
    yield from _check_config(source, node)
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and _is_field(source, statement):
            yield from _check_field(source, node, statement)


def _check_config(source: Source, node: ast.ClassDef) -> Iterator[Found]:
    config = _config(node)
    said = {name: value for name, (value, _) in config.items()}
    for name, (value, place) in config.items():
        if name == "extra" and value in _LOOSE:
            yield EXTRAS_ALLOWED, place, f"{node.name} takes fields that it does not know"
        elif (name == "strict" and value is False) or (name == "coerce_numbers_to_str" and value is True):
            yield NOT_STRICT, place, f"{node.name} converts what has another type"
        elif name == "allow_inf_nan" and value is True:
            yield NOT_STRICT, place, f"{node.name} takes NaN and infinity for numbers"
    if source.is_plain_model(node) and not _inherits_config(source, node):
        if "extra" not in said:
            yield EXTRAS_ALLOWED, node, f"{node.name} is a plain BaseModel, which ignores unknown fields"
        if "strict" not in said:
            yield NOT_STRICT, node, f"{node.name} is a plain BaseModel, which converts"


def _inherits_config(source: Source, node: ast.ClassDef) -> bool:
    """Whether a class of this file above it has a configuration, which is looked at there."""
    return any(_config(source.classes[name]) for name in source.ancestry(node) if name in source.classes)


def _config(node: ast.ClassDef) -> dict[str, tuple[object, ast.AST]]:
    """What `model_config`, `class Config` and the keywords of the class say, with the places."""
    said: dict[str, tuple[object, ast.AST]] = {}
    said |= {word.arg: (_constant(word.value), word.value) for word in node.keywords if word.arg}
    for statement in node.body:
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        if isinstance(value, ast.Call) and "model_config" in set_names(statement):
            said |= {word.arg: (_constant(word.value), word.value) for word in value.keywords if word.arg}
        elif isinstance(value, ast.Dict) and "model_config" in set_names(statement):
            pairs = zip(value.keys, value.values, strict=True)
            said |= {str(_constant(key)): (_constant(value), value) for key, value in pairs if key is not None}
        elif isinstance(statement, ast.ClassDef) and statement.name == "Config":
            for inner in statement.body:
                if isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Name):
                    said[inner.targets[0].id] = (_constant(inner.value), inner)
    return said


def _constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _is_field(source: Source, statement: ast.AnnAssign) -> bool:
    if not isinstance(statement.target, ast.Name) or statement.target.id.startswith(("_", "model_")):
        return False
    return source.full_name(statement.annotation).rpartition(".")[2] != "ClassVar"


def _check_field(source: Source, node: ast.ClassDef, statement: ast.AnnAssign) -> Iterator[Found]:
    name = f"{node.name}.{getattr(statement.target, 'id', '')}"
    made = statement.value if _is_made(source, statement.value) else None
    words = {word.arg: word.value for word in made.keywords if word.arg} if isinstance(made, ast.Call) else {}
    if _has_default(statement, made):
        yield HIDDEN_FIELD, statement, f"{name} has a default, so that nobody sees when it is missing"
    if _constant(words.get("strict")) is False:
        yield NOT_STRICT, statement, f"{name} converts what has another type"
    bounds = _BOUNDS & {*words, *_annotated_bounds(source, statement)}
    if _is_number(source, statement.annotation) and not bounds and _constant(words.get("source_time")) is not True:
        yield NO_BOUNDS, statement, f"{name} may be any number"


def _is_made(source: Source, value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and source.full_name(value.func).rpartition(".")[2] in _MAKERS


def _has_default(statement: ast.AnnAssign, made: ast.expr | None) -> bool:
    if statement.value is None:
        return False
    if not isinstance(made, ast.Call):
        return True
    if made.args:
        return _constant(made.args[0]) is not ...
    return any(
        word.arg in {"default", "default_factory"} and _constant(word.value) is not ... for word in made.keywords
    )


def _is_number(source: Source, annotation: ast.expr) -> bool:
    """Whether a number is among what the field may be; what stands in brackets is not looked at, but for Annotated."""
    if isinstance(annotation, ast.BinOp):
        return _is_number(source, annotation.left) or _is_number(source, annotation.right)
    if isinstance(annotation, ast.Subscript):
        outer = source.full_name(annotation.value).rpartition(".")[2]
        if outer not in {"Annotated", "Optional", "Union"}:
            return False
        inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        return any(_is_number(source, part) for part in (inner[:1] if outer == "Annotated" else inner))
    return source.full_name(annotation) in _NUMBERS


def _annotated_bounds(source: Source, statement: ast.AnnAssign) -> Iterator[str]:
    """Bounds within the annotation: `Annotated[float, Field(gt=0)]`, `Annotated[int, Ge(0)]`."""
    for node in ast.walk(statement.annotation):
        if isinstance(node, ast.Call):
            yield from (word.arg for word in node.keywords if word.arg)
            if source.full_name(node.func) in _BOUND_TYPES:
                yield "ge"
