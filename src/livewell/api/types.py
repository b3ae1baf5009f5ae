"""Where a door is, and whom it lets near."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class DoorOptions:
    """The address to serve on; port 0 takes any.

    Pages of `origins` may connect besides those of this server itself. What a proxy says of who asks is believed only
    of `trusted_proxies`. `token` is one that may run tasks and read metrics, besides access keys. A door that is not
    `for_viewers` has health, metrics and runs only.
    """

    host: str = "127.0.0.1"
    port: int = 8800
    origins: Sequence[str] = ()
    trusted_proxies: Sequence[str] = ()
    token: str | None = None
    for_viewers: bool = True

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
