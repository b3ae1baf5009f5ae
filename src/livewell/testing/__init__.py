"""What Livewell and its users test with: a real PostgreSQL for every test, and the means to hurt it.

`plugin.py` is the pytest plugin. Its fixtures:

- `database`, `owner`: a migrated database of the test's own, as the service and as a superuser see it;
  `database_url`, `owner_url`: the same as URLs; `empty_owner_url`: a database without Livewell.
- `own_server`: a durable server of the test's own that it may stop and kill.
- `standby`: a primary and a streaming standby of it, both the test's own; `shared_standby`: such a pair for all tests
  that leave it as it is.
- `pgbouncer`: PgBouncer in transaction mode before the test's database.
- `tcp_proxy`: a proxy before the shared server that delays, swallows and cuts.
- `failover_cluster`: a primary and its synchronous standby under Patroni and etcd, the test's own.

`make_endpoint()`, `make_key()` and `make_market_data()` make what budgets are about, `make_type()` and `make_table()`
what is kept fresh; `grant_table()` lets Livewell read and write a table that is there already. `assert_type_fits()` is
what users call in their CI: a type's model with its table, and an answer with both. `begin_as_copy()` gives a new
embedded server its schema at once; `captured_logs()` is what was logged meanwhile; `small_disk()` is a disk that can be
filled. `effort()` says how hard a property test tries; `child()` runs a Python process of the test's own that it talks
to and kills; `until()` waits for a condition. `idle_in_transaction()` is a stranger who leaves a transaction open;
`serving()` serves an application's API, and `viewing()` is a viewer connected to it, `make_access_key()` what it may
show, `put()` stores a value; `browser()` is a real one; `wait_long()` lets functions that wait for a moment wait for
longer.

All tests of a run share one server: that at LIVEWELL_TEST_DATABASE_URL (a superuser's URL), or an embedded one in a
throwaway folder. It and the standby's pair run with fsync off; `own_server` is durable. What a machine lacks is skipped
by name (`require`, `lack`); with LIVEWELL_REQUIRE_ALL=1 any skip is a failure.

How it fails: a database that cannot be migrated fails every test that asks for it, once and with the migrator's fact.
The folder of a run that was killed is removed, with its servers, by the next run.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.testing.addresses import Address
    from livewell.testing.browsing import Browser, Page, browser
    from livewell.testing.data_types import grant_table, make_table, make_type
    from livewell.testing.disks import SmallDisk, small_disk
    from livewell.testing.efforts import effort
    from livewell.testing.endpoints import make_endpoint, make_key, make_market_data
    from livewell.testing.fitting import assert_type_fits
    from livewell.testing.live import Viewer, make_access_key, put, viewing
    from livewell.testing.logins import connected
    from livewell.testing.logs import captured_logs
    from livewell.testing.patroni import PatroniCluster, PatroniNode, patroni_cluster
    from livewell.testing.pgbouncer import PgBouncer, pgbouncer_before
    from livewell.testing.prepared import begin_as_copy
    from livewell.testing.processes import Child, child
    from livewell.testing.proxy import TcpProxy, Way
    from livewell.testing.requirements import lack, require
    from livewell.testing.served import ServedApi, serving
    from livewell.testing.servers import OwnServer, SharedServer
    from livewell.testing.standby import Standby
    from livewell.testing.strangers import idle_in_transaction, wait_long
    from livewell.testing.throwaway import run_apart
    from livewell.testing.waiting import until
else:
    __getattr__ = opened(__name__)

__all__ = [
    "Address",
    "Browser",
    "Child",
    "OwnServer",
    "Page",
    "PatroniCluster",
    "PatroniNode",
    "PgBouncer",
    "ServedApi",
    "SharedServer",
    "SmallDisk",
    "Standby",
    "TcpProxy",
    "Viewer",
    "Way",
    "assert_type_fits",
    "begin_as_copy",
    "browser",
    "captured_logs",
    "child",
    "connected",
    "effort",
    "grant_table",
    "idle_in_transaction",
    "lack",
    "make_access_key",
    "make_endpoint",
    "make_key",
    "make_market_data",
    "make_table",
    "make_type",
    "patroni_cluster",
    "pgbouncer_before",
    "put",
    "require",
    "run_apart",
    "serving",
    "small_disk",
    "until",
    "viewing",
    "wait_long",
]
