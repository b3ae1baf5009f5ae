"""How hard property tests try: a tenth of the examples by default, all of them with LIVEWELL_THOROUGH=1."""

import os
from typing import Any

from hypothesis import HealthCheck, settings

THOROUGH = "LIVEWELL_THOROUGH"
_LEAST = 10


def effort(examples: int, *, steps: int | None = None, derandomize: bool = False) -> settings:
    """Settings for so many examples in a thorough run; against a real server there are no deadlines.

    For a state machine, `steps` is how long a history may get, in a quick run too: short ones reach nothing.
    """
    tried = examples if is_thorough() else min(examples, max(_LEAST, examples // 10))
    histories: dict[str, Any] = {} if steps is None else {"stateful_step_count": steps}
    return settings(
        max_examples=tried,
        deadline=None,
        derandomize=derandomize,
        suppress_health_check=list(HealthCheck),
        **histories,
    )


def is_thorough() -> bool:
    return os.environ.get(THOROUGH) == "1"
