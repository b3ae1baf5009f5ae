"""PostgreSQL under Patroni and etcd, as Debian ships them: a primary, a standby, and somebody who changes their parts.

Two nodes on this machine, each a Patroni with a PostgreSQL 15 of its own, and one etcd by which they agree who leads.
A node can be killed hard, as its machine would go, and started again; then it comes back as a standby. Times are as
short as Patroni allows, so that a failover is a matter of seconds.
"""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg

from livewell.kernel import Account, is_postgres_in, migrate
from livewell.testing.addresses import Address
from livewell.testing.logins import connected, ensure_service_login
from livewell.testing.requirements import lack, require
from livewell.testing.waiting import until

_HOST = "127.0.0.1"
_DATABASE = "livewell"
_SUPERUSER = "postgres"
# The newest that Debian's Patroni knows.
_PROGRAMS = Path("/usr/lib/postgresql/15/bin")
# How long a leader that says nothing stays leader, how often each looks, and how long it tries to reach etcd.
_TTL, _LOOP_WAIT, _RETRY = 6, 1, 2
_SOON = timedelta(seconds=60)
_ASKED_FOR = aiohttp.ClientTimeout(total=2)


@dataclass(kw_only=True)
class PatroniNode:
    """One Patroni with its PostgreSQL."""

    name: str
    folder: Path
    port: int
    door: int
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def superuser_url(self) -> str:
        return f"postgresql://{_SUPERUSER}@{_HOST}:{self.port}/{_DATABASE}"

    def start(self) -> None:
        """Start it, or start it again: then it becomes a standby of whoever leads now."""
        self.process = _started([require("patroni"), str(self.folder / "patroni.json")], self.folder, "patroni.log")

    def kill(self, *backends: int) -> None:
        """Kill -9 of Patroni, of its postmaster, and of these backends; the others notice by themselves."""
        self._kill_patroni()
        for pid in (*self._postmaster(), *backends):
            if is_postgres_in(pid, self._data):
                os.kill(pid, signal.SIGKILL)

    def _kill_patroni(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _postmaster(self) -> list[int]:
        """Whose pid is on file, if any; whether it still is that process is another question."""
        with suppress(FileNotFoundError):
            return [int(line) for line in (self._data / "postmaster.pid").read_text().splitlines()[:1]]
        return []

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def log(self) -> str:
        return (self.folder / "patroni.log").read_text(encoding="utf-8", errors="replace")


@dataclass(kw_only=True)
class PatroniCluster:
    """Nodes that agree by etcd who takes writes; the URLs name all of them."""

    nodes: Sequence[PatroniNode]
    service: Address | None = field(default=None)

    @property
    def owner_url(self) -> str:
        """A superuser's URL, which leads to whoever takes writes."""
        return self._url_for(_SUPERUSER)

    @property
    def database_url(self) -> str:
        """The same for a login that is only a member of livewell_service."""
        if self.service is None:
            raise RuntimeError("the cluster has no Livewell yet")
        return self._url_for(f"{self.service.user}:{self.service.password}")

    def _url_for(self, login: str) -> str:
        hosts = ",".join(f"{_HOST}:{node.port}" for node in self.nodes)
        return f"postgresql://{login}@{hosts}/{_DATABASE}"

    async def primary(self) -> PatroniNode:
        """The node that takes writes, as soon as there is one."""
        found: list[PatroniNode] = []

        async def there() -> bool:
            found[:] = [node for node in self.nodes if node.process is not None and await _takes_writes(node)]
            return len(found) == 1

        await until(there, "one node takes writes", within=_SOON)
        return found[0]

    async def whole(self, role: str = "sync_standby") -> None:
        """Wait until there is a leader, and the other node is a standby in this role, as Patroni sees it."""

        async def agreed() -> bool:
            roles = await self._roles()
            return sorted(roles) == sorted(["leader", role])

        try:
            await until(agreed, f"a leader has a {role}", within=_SOON)
        except AssertionError as error:
            logs = "\n".join(f"{node.name}: {node.log()[-2000:]}" for node in self.nodes)
            raise AssertionError(f"{error}; roles are {await self._roles()}\n{logs}") from None

    async def configure(self, **changes: Any) -> None:
        """Change what all nodes go by."""
        async with (
            aiohttp.ClientSession(timeout=_ASKED_FOR) as session,
            session.patch(f"http://{_HOST}:{(await self.primary()).door}/config", json=changes) as answer,
        ):
            answer.raise_for_status()

    async def _roles(self) -> list[str]:
        """The roles of the nodes that serve, by whichever node answers."""
        for node in self.nodes:
            with suppress(aiohttp.ClientError, TimeoutError):
                async with (
                    aiohttp.ClientSession(timeout=_ASKED_FOR) as session,
                    session.get(f"http://{_HOST}:{node.door}/cluster") as answer,
                ):
                    members = (await answer.json(content_type=None))["members"]
                    return [member["role"] for member in members if member["state"] in ("running", "streaming")]
        return []


@asynccontextmanager
async def patroni_cluster(folder: Path) -> AsyncIterator[PatroniCluster]:
    """A migrated primary and its synchronous standby under Patroni; nothing acknowledged is on one of them alone."""
    if not (_PROGRAMS / "postgres").exists():
        lack("PostgreSQL 15 of Debian is not installed")
    for program in ("patroni", "etcd", "setpriv"):
        require(program)
    account = Account.unprivileged()
    folder.mkdir(mode=0o755)
    ports = _free_ports(6)
    nodes = [_node(folder, number, ports, account) for number in (1, 2)]
    etcd = _start_etcd(_own_folder(folder / "etcd", account), ports[:2])
    cluster = PatroniCluster(nodes=nodes)
    try:
        await _begin(cluster)
        yield cluster
    finally:
        for node in nodes:
            node.kill()
        etcd.kill()
        etcd.wait()
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _begin(cluster: PatroniCluster) -> None:
    """The first node makes the database and Livewell in it, while the second copies what is there and follows."""
    first, second = cluster.nodes
    first.start()
    await cluster.primary()
    second.start()
    async with connected(first.superuser_url.replace(f"/{_DATABASE}", "/postgres")) as connection:
        await connection.execute(f"create database {_DATABASE}")
    await migrate(first.superuser_url)
    cluster.service = Address.of(await ensure_service_login(first.superuser_url))
    await cluster.whole()


def _node(folder: Path, number: int, ports: Sequence[int], account: Account) -> PatroniNode:
    name = f"node{number}"
    own = _own_folder(folder / name, account)
    node = PatroniNode(name=name, folder=own, port=ports[2 * number], door=ports[2 * number + 1])
    (own / "patroni.json").write_text(json.dumps(_settings(node, etcd=ports[0])))
    return node


def _settings(node: PatroniNode, *, etcd: int) -> dict[str, Any]:
    """What Patroni goes by; everybody on this machine is trusted."""
    logins = {"superuser": {"username": _SUPERUSER}, "replication": {"username": "replicator"}}
    return {
        "scope": "livewell",
        "name": node.name,
        "restapi": {"listen": f"{_HOST}:{node.door}", "connect_address": f"{_HOST}:{node.door}"},
        "etcd3": {"host": f"{_HOST}:{etcd}"},
        "bootstrap": {
            "dcs": {
                "ttl": _TTL,
                "loop_wait": _LOOP_WAIT,
                "retry_timeout": _RETRY,
                "maximum_lag_on_failover": 1024**3,
                "synchronous_mode": True,
                "postgresql": {"use_pg_rewind": True, "use_slots": True},
            },
            "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, {"auth": "trust"}, "data-checksums"],
        },
        "postgresql": {
            "listen": f"{_HOST}:{node.port}",
            "connect_address": f"{_HOST}:{node.port}",
            "data_dir": str(node.folder / "data"),
            "bin_dir": str(_PROGRAMS),
            "pgpass": str(node.folder / "pgpass"),
            "authentication": logins,
            "pg_hba": [
                "local all all trust",
                f"host all all {_HOST}/32 trust",
                f"host replication all {_HOST}/32 trust",
            ],
            "remove_data_directory_on_rewind_failure": True,
            "remove_data_directory_on_diverged_timelines": True,
            "basebackup": [{"checkpoint": "fast"}, "no-sync"],
            "parameters": {
                "unix_socket_directories": str(node.folder),
                "shared_buffers": "64MB",
                # A killed process loses nothing of what it has handed to the system.
                "fsync": "off",
                "max_connections": 100,
            },
        },
    }


def _start_etcd(folder: Path, ports: Sequence[int]) -> "subprocess.Popen[bytes]":
    clients, peers = (f"http://{_HOST}:{port}" for port in ports)
    command = [require("etcd"), "--name", "one", "--data-dir", str(folder / "data"), "--unsafe-no-fsync"]
    command += ["--listen-client-urls", clients, "--advertise-client-urls", clients]
    command += ["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers]
    return _started([*command, "--initial-cluster", f"one={peers}"], folder, "etcd.log")


def _started(command: Sequence[str], folder: Path, log: str) -> "subprocess.Popen[bytes]":
    """A server of this cluster, which ends with the process that started it."""
    account = Account.unprivileged()
    with (folder / log).open("ab") as written:
        return subprocess.Popen(
            [require("setpriv"), "--pdeathsig", "KILL", "--", *command],
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
            cwd=folder,
            env={"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "LC_ALL": "C.UTF-8"},
            start_new_session=True,
            **account.identity,
        )


def _own_folder(folder: Path, account: Account) -> Path:
    folder.mkdir(mode=0o700)
    account.own(folder)
    return folder


def _free_ports(number: int) -> list[int]:
    """Ports that nobody has now, all different."""
    probes = [socket.create_server((_HOST, 0)) for _ in range(number)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


async def _takes_writes(node: PatroniNode) -> bool:
    url = node.superuser_url.replace(f"/{_DATABASE}", "/postgres")
    with suppress(OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        async with asyncio.timeout(2), connected(url) as connection:
            return not await connection.fetchval("select pg_is_in_recovery()")
    return False
