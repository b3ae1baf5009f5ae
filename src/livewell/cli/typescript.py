"""Data types as TypeScript: declared so to `@livewell/client`, `useItem("quote", …)` knows its value."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from livewell.fetching import ValueShape

_HEAD = """\
// Written by `livewell types export --ts`. Write it again when a type changes.
import "@livewell/client";

declare module "@livewell/client" {
  interface Types {
"""
_FOOT = """\
  }
}
"""
_PLAIN = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def typescript(shapes: "Sequence[ValueShape]") -> str:
    """The declarations of all these types, as one file."""
    return _HEAD + "".join(_entry(shape) for shape in shapes) + _FOOT


def _entry(shape: "ValueShape") -> str:
    told = "" if shape.schema is None else _Writer(shape.schema.get("$defs", {})).written(shape.schema, "    ")
    comment = " ".join(_comment(shape)).replace("*/", "* /").replace("\n", " ")
    return f"    /** {comment} */\n    {_name(shape.data_type.name)}: {told or 'unknown'};\n"


def _comment(shape: "ValueShape") -> list[str]:
    said = [shape.data_type.description.rstrip(".") + "."] if shape.data_type.description else []
    said.append(f"Its keys are like {shape.data_type.key_pattern}")
    return [*said, f"Its value is unknown: {shape.unknown_because}."] if shape.unknown_because else said


def _name(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) else json.dumps(name)


class _Writer:
    """Writes a JSON Schema as a type; what TypeScript cannot say is `unknown`."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._within: list[str] = []

    def written(self, schema: Any, indent: str) -> str:
        match schema:
            case {"$ref": str(place)}:
                return self._referred(place.rpartition("/")[2], indent)
            case {"enum": [*values]}:
                return " | ".join(json.dumps(value) for value in values)
            case {"const": value}:
                return json.dumps(value)
            case {"anyOf": [*choices]}:
                return self._one_of(choices, indent)
            case {"type": "array"}:
                return self._list(self.written(schema.get("items"), indent), indent)
            case {"type": "object", "properties": {}}:
                return self._object(schema["properties"], schema.get("required", ()), indent)
            case {"type": "object"}:
                return f"Record<string, {self.written(schema.get('additionalProperties'), indent)}>"
            case {"type": str(name)}:
                return _PLAIN.get(name, "unknown")
        return "unknown"

    def _referred(self, name: str, indent: str) -> str:
        """What is defined elsewhere, written here; of what contains itself, the first one."""
        if name in self._within:
            return "unknown"
        self._within.append(name)
        try:
            return self.written(self._definitions.get(name), indent)
        finally:
            self._within.pop()

    def _one_of(self, choices: Sequence[Any], indent: str) -> str:
        found = list(dict.fromkeys(self.written(choice, indent) for choice in choices))
        return "unknown" if "unknown" in found else " | ".join(found)

    def _list(self, element: str, indent: str) -> str:
        """A union needs brackets, an object that has one within does not: its inner lines are further in."""
        outer = [line for line in element.splitlines() if not line.startswith(f"{indent} ")]
        return f"({element})[]" if any(" | " in line for line in outer) else f"{element}[]"

    def _object(self, properties: Mapping[str, Any], required: Sequence[str], indent: str) -> str:
        inner = f"{indent}  "
        lines = [
            f"{inner}{_name(name)}{'' if name in required else '?'}: {self.written(field, inner)};\n"
            for name, field in properties.items()
        ]
        return "{\n" + "".join(lines) + indent + "}" if lines else "Record<string, never>"
