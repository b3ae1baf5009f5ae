"""Facts about fetching and storing."""

from livewell.kernel import LivewellError


class FetchingError(LivewellError):
    """Something about fetching or storing what was fetched."""

    code = "fetching.error"


class InvalidFetches(FetchingError):
    """A batch of ended refreshes is no list, or one with an element without job or outcome; nothing was stored."""

    code = "fetching.invalid_fetches"
    sqlstate = "LWN01"


class InvalidModel(FetchingError):
    """What is said of a model's columns cannot be so; nothing was looked at."""

    code = "fetching.invalid_model"
    sqlstate = "LWN02"


class InvalidRead(FetchingError):
    """The keys to read are missing, or more than one call may read."""

    code = "fetching.invalid_read"
    sqlstate = "LWN04"


class UnsoundTrigger(FetchingError):
    """A trigger that shall tell what was written is not on the table of its type, or not made as it must be."""

    code = "fetching.unsound_trigger"
    sqlstate = "LWN05"


class InvalidPut(FetchingError):
    """What is put is no list of rows, or says too little; nothing was stored."""

    code = "fetching.invalid_put"
    sqlstate = "LWN06"


class ForbiddenAddress(FetchingError):
    """A call would go to an address that its provider may not reach; it was not made."""

    code = "fetching.forbidden_address"


class UnsoundFetch(FetchingError):
    """What a type says of its fetching cannot work: no template, no model, a field that makes no sense."""

    code = "fetching.unsound"


class CallEnded(FetchingError):
    """A call of a fetcher came to an outcome of its own; it ends the fetch, whatever the fetcher makes of it."""

    code = "fetching.call_ended"
