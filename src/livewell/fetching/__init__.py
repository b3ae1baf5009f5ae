"""What a refresh brings: fetchers that believe nothing of an answer, and the store of what they do believe.

The room owns the one HTTP client of a process, where it may call, what a row must be, and what an answer is worth. A
fetcher is declared (`fetch` and `fields` of a type) or written (`Fetcher`); both are given a `Call` and no client, and
`Fetching` does the rest for both alike. Nothing here knows a type by name. An `Answered` goes to the worker, and from
there to `FetchStore`: one call, one transaction, for a batch of any types. What is stored is read by one function,
`livewell.read_items`, and followed by `Items`, which all who watch in a process share.

Invariants. Every key that is asked for gets exactly one outcome. A row is taken only when its model takes all of it:
missing, renamed, retyped, unknown and absurd values, at any depth, refuse the key, never the others. A type is declared
only when checking it finds no error, and is refused for all of them at once. Bytes are those the provider
sent, to the byte, shared out among the keys of a request without a rest. A request is sent once, after its permission.
A call goes only to hosts its provider declares, at addresses that were checked and are the ones connected to. An answer
holds no more memory than its cap, all answers together no more than the limit and one of them. The hash of a row
leaves out its source time and what is declared volatile: those move while the data stays as it is. Reading is by key,
from the type's own table or record; who is not the service reads what the type's read rule says. Content that is other
than what is stored, and only that, has a new version; a fetch that began before a put is not stored over it.

How it fails. Slow, cut off, unreachable, forbidden and unreadable answers are `FetchFailed`; answers that are there and
not believed are `Refused`; 429 is `FetchThrottled`, which costs no retry. A fetcher that raises fails its keys. A type
that cannot be fetched at all is `UnsoundFetch` before anything is sent, in `livewell types check` and in the worker.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.fetching.addresses import Destinations
    from livewell.fetching.checking import check_fetching, read_source
    from livewell.fetching.client import CallLimits, Client
    from livewell.fetching.columns import columns_of
    from livewell.fetching.declaring import Scope, TypeSection, declare_types
    from livewell.fetching.engine import Answered, Asked, Fetching
    from livewell.fetching.errors import (
        CallEnded,
        FetchingError,
        ForbiddenAddress,
        InvalidFetches,
        InvalidModel,
        InvalidPut,
        InvalidRead,
        UnsoundFetch,
        UnsoundTrigger,
    )
    from livewell.fetching.fetcher import Call, Fetcher, source_time_of
    from livewell.fetching.items import Items
    from livewell.fetching.judge import Warned
    from livewell.fetching.memory import Memory
    from livewell.fetching.metrics import STORE_SECONDS, fetch_seconds, tell_stored
    from livewell.fetching.models import Model, bounded
    from livewell.fetching.notices import read_notice
    from livewell.fetching.putting import Putter
    from livewell.fetching.source_book import SourceBook
    from livewell.fetching.sources import Source, source_of
    from livewell.fetching.store import CHANGES_CHANNEL, FetchStore
    from livewell.fetching.types import (
        Column,
        Condition,
        EndedFetch,
        Fetched,
        FetchFailed,
        FetchOutcome,
        FetchThrottled,
        Gone,
        Put,
        Refused,
        Rehearsed,
        Stored,
        StoredItem,
        Unchanged,
    )
    from livewell.fetching.value_shape import ValueShape, value_shapes
else:
    __getattr__ = opened(__name__)

__all__ = [
    "CHANGES_CHANNEL",
    "STORE_SECONDS",
    "Answered",
    "Asked",
    "Call",
    "CallEnded",
    "CallLimits",
    "Client",
    "Column",
    "Condition",
    "Destinations",
    "EndedFetch",
    "FetchFailed",
    "FetchOutcome",
    "FetchStore",
    "FetchThrottled",
    "Fetched",
    "Fetcher",
    "Fetching",
    "FetchingError",
    "ForbiddenAddress",
    "Gone",
    "InvalidFetches",
    "InvalidModel",
    "InvalidPut",
    "InvalidRead",
    "Items",
    "Memory",
    "Model",
    "Put",
    "Putter",
    "Refused",
    "Rehearsed",
    "Scope",
    "Source",
    "SourceBook",
    "Stored",
    "StoredItem",
    "TypeSection",
    "Unchanged",
    "UnsoundFetch",
    "UnsoundTrigger",
    "ValueShape",
    "Warned",
    "bounded",
    "check_fetching",
    "columns_of",
    "declare_types",
    "fetch_seconds",
    "read_notice",
    "read_source",
    "source_of",
    "source_time_of",
    "tell_stored",
    "value_shapes",
]
