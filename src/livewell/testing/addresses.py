"""Database URLs taken apart and put together again."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

_DEFAULT_PORT = 5432


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a server listens (a TCP host, or the folder of its socket), and as whom to come."""

    host: str
    port: int
    user: str
    password: str | None
    database: str
    options: Mapping[str, str]

    @classmethod
    def of(cls, url: str) -> "Address":
        parts = urlsplit(url)
        options: dict[str, str] = dict(parse_qsl(parts.query))
        host = options.pop("host", "") or parts.hostname or "127.0.0.1"
        port = int(options.pop("port", "") or parts.port or _DEFAULT_PORT)
        return cls(
            host=unquote(host),
            port=port,
            user=options.pop("user", "") or unquote(parts.username or "postgres"),
            password=options.pop("password", "") or (unquote(parts.password) if parts.password else None),
            database=unquote(parts.path.lstrip("/")) or "postgres",
            options=options,
        )

    @property
    def socket(self) -> str | None:
        """The path of the server's socket, when it is reached by one."""
        return f"{self.host}/.s.PGSQL.{self.port}" if self.host.startswith("/") else None

    @property
    def url(self) -> str:
        login = quote(self.user, safe="") + (f":{quote(self.password, safe='')}" if self.password else "")
        query = urlencode({**self.options, "host": self.host, "port": self.port}, safe="/")
        return f"postgresql://{login}@/{quote(self.database, safe='')}?{query}"
