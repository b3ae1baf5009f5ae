"""Fetchers: what asks for a key and finds its rows. Everything else is done for them.

A fetcher is given a `Call` and no client. Its requests go through the one client that counts, limits, checks and times
them. A request without an answer ends the fetch with its outcome, even when the fetcher catches the exception. The rows
it returns are read by its model; it cannot store, finish or retry anything.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, get_args, get_origin
from urllib.parse import quote

from pydantic import BaseModel

from livewell.fetching.errors import UnsoundFetch
from livewell.fetching.models import marks_of
from livewell.fetching.paths import JsonPath

M = TypeVar("M", bound=BaseModel)
Row = Mapping[str, Any] | BaseModel


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """One request as a fetcher wants it; path and query are not encoded yet."""

    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str | None = None
    is_encoded: bool = False


Asking = Callable[[Question], Awaitable[Any]]


class Answer:
    """The answer to a question, to be awaited."""

    __slots__ = ("_asking", "_question")

    def __init__(self, asking: Asking, question: Question) -> None:
        self._asking = asking
        self._question = question

    async def json(self) -> Any:
        """The whole answer."""
        return await self._asking(self._question)

    async def items(self, path: str = "$[*]") -> list[Any]:
        """The rows of the answer; it is refused when there is nothing where they should be."""
        return JsonPath(path).find(await self._asking(self._question))


class Call:
    """What is asked for, and the only way to ask."""

    __slots__ = ("__asking", "data_type", "keys")

    def __init__(self, data_type: str, keys: Sequence[str], asking: Asking) -> None:
        self.data_type = data_type
        self.keys = tuple(keys)
        self.__asking = asking

    @property
    def key(self) -> str:
        """The one key that is asked for."""
        if len(self.keys) != 1:
            raise UnsoundFetch(f"{len(self.keys)} keys are asked for at once", fix="use call.keys")
        return self.keys[0]

    def get(
        self,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        content_type: str | None = None,
    ) -> Answer:
        """Ask for a path below the provider's base URL."""
        said = {name: str(value) for name, value in (query or {}).items()}
        question = Question(path=path, query=said, headers=dict(headers or {}), content_type=content_type)
        return Answer(self.__asking, question)

    def ask(self, question: Question) -> Answer:
        """Ask a question that is made already."""
        return Answer(self.__asking, question)


class Fetches(Protocol):
    """What the engine needs of a fetcher, declared or written."""

    @property
    def model(self) -> type[BaseModel]:
        """What a row is."""

    @property
    def key(self) -> str | None:
        """The field that says whose a row is."""

    @property
    def rows(self) -> Literal["one", "many"]:
        """How many rows a key has."""

    @property
    def absent(self) -> Literal["refuse", "gone"]:
        """What becomes of a key that the answer does not have."""

    async def fetch(self, call: Call) -> Sequence[Row]:
        """The rows of the keys that are asked for."""


class Fetcher(Generic[M]):
    """A fetcher in Python: `class ProfileFetcher(Fetcher[Profile])` with `async def fetch(self, call)`."""

    model: ClassVar[type[BaseModel]]
    key: ClassVar[str | None] = None
    rows: ClassVar[Literal["one", "many"]] = "one"
    absent: ClassVar[Literal["refuse", "gone"]] = "refuse"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for base in () if "model" in cls.__dict__ else cls.__dict__.get("__orig_bases__", ()):
            found = get_args(base)[0] if get_origin(base) is Fetcher else None
            if isinstance(found, type) and issubclass(found, BaseModel):
                cls.model = found

    async def fetch(self, call: Call) -> Sequence[Row]:
        """The rows of `call.key`, or of `call.keys`; as the provider sent them."""
        raise NotImplementedError


def source_time_of(fetcher: type[Fetcher[Any]]) -> str | None:
    """The field of a fetcher's model that is marked as its source time."""
    fields = fetcher.model.model_fields if hasattr(fetcher, "model") else {}
    return next((name for name, field in fields.items() if marks_of(field).source_time), None)


def encoded(text: str) -> str:
    """A value as it stands in a path or a query, whatever it holds."""
    return quote(text, safe="")


def encoded_path(path: str) -> str:
    """A path as it is sent; its parts stay parts, everything odd is encoded."""
    return quote(path, safe="/:@!$&'()*+,;=-._~")
