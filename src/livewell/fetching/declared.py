"""Fetchers that are declared: a URL template, where the rows are, and fields. No code."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel

from livewell.fetching.fetcher import Call, Question, Row, encoded
from livewell.fetching.paths import JsonPath, NotThere
from livewell.registry import FetchDeclaration, PageDeclaration

_HOLE = re.compile(r"\{keys?\}")
_LITERAL = "/:@!$&'()*+,;=-._~%"


class TooManyPages(NotThere):
    """The last page that may be asked for names a next one: the answer is not complete."""


class DeclaredFetcher:
    """A fetcher by declaration."""

    def __init__(self, declared: FetchDeclaration, model: type[BaseModel]) -> None:
        self.model = model
        self.key = declared.key
        self.rows = declared.rows
        self.absent = declared.absent
        self._path = quote(declared.path, safe=_LITERAL + "{}")
        self._declared = declared
        self._items = JsonPath(declared.items)
        self._next = JsonPath(declared.page.next) if declared.page and declared.page.next else None

    async def fetch(self, call: Call) -> Sequence[Row]:
        """Ask once, or page by page."""
        page = self._declared.page
        if page is None:
            return self._items.find(await call.ask(self._question(call.keys)).json())
        rows: list[Any] = []
        at = str(page.first) if self._next is None else None
        for number in range(page.most + 1):
            if number == page.most:
                raise TooManyPages(f"more than {page.most} pages")
            document = await call.ask(self._question(call.keys, {page.parameter: at} if at is not None else {})).json()
            found = self._items.find(document)
            rows.extend(found)
            at = self._page_after(page, number, document, found)
            if at is None:
                break
        return rows

    def _page_after(self, page: PageDeclaration, number: int, document: Any, found: list[Any]) -> str | None:
        if self._next is None:
            return str(page.first + number + 1) if found else None
        said = self._next.first(document)
        return str(said) if isinstance(said, str | int) and not isinstance(said, bool) and said != "" else None

    def _question(self, keys: Sequence[str], more: dict[str, str] | None = None) -> Question:
        declared = self._declared
        inserted = encoded_list(keys, declared.separator)
        plain = declared.separator.join(keys)
        query = {name: _HOLE.sub(lambda _: plain, value) for name, value in declared.query.items()}
        return Question(
            path=_HOLE.sub(lambda _: inserted, self._path),
            query=query | (more or {}),
            headers=declared.headers,
            content_type=declared.content_type,
            is_encoded=True,
        )


def encoded_list(keys: Sequence[str], separator: str) -> str:
    """Keys as they stand in a path: encoded, with what separates them plain."""
    return separator.join(map(encoded, keys))
