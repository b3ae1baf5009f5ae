-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

-- Exchanges: whose keys are theirs, for which time their sessions are known, whether they are open, and when that changes.
-- for: service, user
create view livewell.exchanges as
select
    x.code, array(select r.suffix from livewell_private.exchange_rule as r where r.exchange = x.code order by r.suffix) as suffixes,
    e.known_from, e.known_until, e.refreshed_at,
    case when s.closes_at is not null then true when clock_timestamp() >= e.known_from and clock_timestamp() < e.known_until then false end as open,
    coalesce(s.closes_at, n.opens_at) as changes_at
from (
    select r.exchange from livewell_private.exchange_rule as r
    union
    select e.code from livewell_private.exchange as e
) as x (code)
left join livewell_private.exchange as e on e.code = x.code
left join lateral (
    select m.closes_at from livewell_private.market_session as m
    where m.exchange = x.code and m.opens_at <= clock_timestamp() and m.closes_at > clock_timestamp()
) as s on true
left join lateral (
    select min(m.opens_at) as opens_at from livewell_private.market_session as m where m.exchange = x.code and m.opens_at > clock_timestamp()
) as n on true;

-- columns:
--   code text
--   suffixes text[]
--   known_from timestamp with time zone
--   known_until timestamp with time zone
--   refreshed_at timestamp with time zone
--   open boolean
--   changes_at timestamp with time zone

grant select on table livewell.exchanges to livewell_service;
grant select on table livewell.exchanges to livewell_user;
