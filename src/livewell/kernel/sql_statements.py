"""Cutting a SQL file into its statements, for those that PostgreSQL runs only one by one."""

import re

_TOKEN = re.compile(
    r"""
    --[^\n]*                              # comment to the end of the line
    | /\*.*?\*/                           # comment
    | \b[eE]'(?:[^'\\]|\\.|'')*'          # string with escapes
    | '(?:[^']|'')*'
    | "(?:[^"]|"")*"
    | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$     # dollar-quoted string
    | (?P<end>;)
    """,
    re.VERBOSE | re.DOTALL,
)


def split_statements(text: str) -> list[str]:
    """The statements of a file, without their semicolons; what is only comment is left out."""
    ends = [token.start() for token in _TOKEN.finditer(text) if token["end"]]
    starts = [0, *(end + 1 for end in ends)]
    pieces = (text[start:end].strip() for start, end in zip(starts, [*ends, len(text)], strict=True))
    return [piece for piece in pieces if _says_something(piece)]


def _says_something(piece: str) -> bool:
    return bool(_TOKEN.sub(lambda token: "" if token[0].startswith(("--", "/*")) else token[0], piece).strip())
