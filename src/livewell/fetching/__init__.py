"""What a refresh brings: fetchers that believe nothing of an answer, and the store of what they do believe.

The room owns the one HTTP client of a process, where it may call, what a row must be, and what an answer is worth. A
fetcher is declared (`fetch` and `fields` of a type) or written (`Fetcher`); both are given a `Call` and no client, and
`Fetching` does the rest for both alike. Nothing here knows a type by name. An `Answered` goes to the worker, and from
there to `FetchStore`: one call, one transaction, for a batch of any types.

Invariants. Every key that is asked for gets exactly one outcome. A row is taken only when its model takes all of it:
missing, renamed, retyped, unknown and absurd values refuse the key, never the others. Bytes are those the provider
sent, to the byte, shared out among the keys of a request without a rest. A request is sent once, after its permission.
A call goes only to hosts its provider declares, at addresses that were checked and are the ones connected to. An answer
holds no more memory than its cap, all answers together no more than the limit and one of them. The hash of a row
leaves out its source time and what is declared volatile: those move while the data stays as it is.

How it fails. Slow, cut off, unreachable, forbidden and unreadable answers are `Failed`; answers that are there and not
believed are `Refused`; 429 is `Throttled`, which costs no retry. A fetcher that raises fails its keys. A type that
cannot be fetched at all is `UnsoundFetch` before anything is sent, in `livewell types check` and in the worker alike.
"""

from livewell.fetching.addresses import Destinations
from livewell.fetching.checking import check_fetching, read_source
from livewell.fetching.client import CallLimits, Client
from livewell.fetching.columns import columns_of
from livewell.fetching.engine import Answered, Asked, Fetching
from livewell.fetching.errors import (
    CallEnded,
    FetchingError,
    ForbiddenAddress,
    InvalidFetches,
    InvalidModel,
    UnsoundFetch,
)
from livewell.fetching.fetcher import Call, Fetcher
from livewell.fetching.judge import Warned
from livewell.fetching.memory import Memory
from livewell.fetching.metrics import STORE_SECONDS, fetch_seconds, tell_stored
from livewell.fetching.models import Model, bounded
from livewell.fetching.source_book import SourceBook
from livewell.fetching.sources import Source, source_of
from livewell.fetching.store import CHANGES_CHANNEL, FetchStore
from livewell.fetching.types import (
    Column,
    Condition,
    Ended,
    Failed,
    Fetched,
    Gone,
    Outcome,
    Refused,
    Rehearsed,
    Stored,
    Throttled,
    Unchanged,
)

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
    "Ended",
    "Failed",
    "FetchStore",
    "Fetched",
    "Fetcher",
    "Fetching",
    "FetchingError",
    "ForbiddenAddress",
    "Gone",
    "InvalidFetches",
    "InvalidModel",
    "Memory",
    "Model",
    "Outcome",
    "Refused",
    "Rehearsed",
    "Source",
    "SourceBook",
    "Stored",
    "Throttled",
    "Unchanged",
    "UnsoundFetch",
    "Warned",
    "bounded",
    "check_fetching",
    "columns_of",
    "fetch_seconds",
    "read_source",
    "source_of",
    "tell_stored",
]
