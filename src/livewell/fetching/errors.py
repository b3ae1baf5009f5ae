"""Facts about fetching and storing."""

from livewell.kernel import LivewellError


class FetchingError(LivewellError):
    """Something about fetching or storing what was fetched."""

    code = "fetching.error"


class InvalidFetches(FetchingError):
    """A batch of ended refreshes is not one: no list, or one that names no job or no outcome; nothing was stored."""

    code = "fetching.invalid_fetches"
    sqlstate = "LWN01"


class InvalidModel(FetchingError):
    """What is said of a model's columns cannot be so; nothing was looked at."""

    code = "fetching.invalid_model"
    sqlstate = "LWN02"
