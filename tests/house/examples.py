"""Code blocks in the manual that are run, and the marks that say how.

A mark is an HTML comment on the line above the block:

    <!-- run -->                 run it: python as a program, console line by line, sql as one script
    <!-- run: file=app.py -->    write it to that file in the page's folder; python, toml and html are not run then
    <!-- run: exit=1 -->         the last command ends with that code
    <!-- run: as=owner -->       sql as the owner of the database, not as a service
    <!-- not run: why -->        a block that cannot be run here, with the reason

The blocks of a page run in order, in one folder and against one database. After a `$ command` the page may show output:
each line must appear, in that order; `…` stands for anything. A command that ends with `&` goes on beside the others
until the page ends; it is then asked to stop, and must end well.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.house.project import pages, place

_FENCE = re.compile(r"^( *)```(\w*)$", re.MULTILINE)
_LANGUAGES = {"python", "console", "sql", "text", "ini", "toml", "html", "json", "js"}
_BLOCK = re.compile(
    r"(?:<!-- (?P<mark>(?:not )?run)(?:: (?P<terms>[^>]*?))? -->\n)?"
    r"^```(?P<language>python|console|sql|toml|html)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, kw_only=True)
class Example:
    """One block of code of a page."""

    page: Path
    line: int
    language: str
    code: str
    mark: str | None
    terms: str

    @property
    def place(self) -> str:
        return f"{place(self.page)}:{self.line}"

    @property
    def file(self) -> str | None:
        return self._term("file")

    @property
    def exit_code(self) -> int:
        return int(self._term("exit") or 0)

    @property
    def as_owner(self) -> bool:
        return self._term("as") == "owner"

    @property
    def steps(self) -> list[tuple[str, list[str]]]:
        """Each command of a console block with the output shown for it."""
        steps: list[tuple[str, list[str]]] = []
        for line in self.code.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:].split("   # ")[0], []))
            elif line.startswith("> ") and steps and not steps[-1][1]:
                steps[-1] = (f"{steps[-1][0]}\n{line[2:]}", [])
            elif line.strip() and line.strip() != "…":
                steps[-1][1].append(line)
        return steps

    def _term(self, name: str) -> str | None:
        match = re.search(rf"\b{name}=(\S+)", self.terms)
        return match[1] if match else None


def examples(page: Path) -> list[Example]:
    text = page.read_text(encoding="utf-8")
    return [
        Example(
            page=page,
            line=text.count("\n", 0, match.start("language")) + 1,
            language=match["language"],
            code=match["code"],
            mark=match["mark"],
            terms=match["terms"] or "",
        )
        for match in _BLOCK.finditer(text)
    ]


def pages_that_run() -> list[Path]:
    return [page for page in pages() if any(example.mark == "run" for example in examples(page))]


def strange_fences(page: Path) -> list[str]:
    """Opening fences that are indented, or name a language that is neither run nor plain."""
    opening = _FENCE.findall(page.read_text(encoding="utf-8"))[::2]
    return [f"{indent}```{language}" for indent, language in opening if indent or language not in _LANGUAGES]


def missing_line(shown: list[str], output: str) -> str | None:
    """The first line a page shows that the output does not have where it should."""
    lines = [" ".join(line.split()) for line in output.splitlines()]
    at = 0
    for line in shown:
        parts = [re.escape(" ".join(part.split())) for part in line.split("…")]
        pattern = re.compile(r"\s*.*\s*".join(parts))
        found = next((n for n in range(at, len(lines)) if pattern.search(lines[n])), None)
        if found is None:
            return line
        at = found + 1
    return None
