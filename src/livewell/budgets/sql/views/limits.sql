-- The limits there are, configured and learned: of endpoints, of accounts (endpoints named as their provider), and of the
-- scopes that keys share. Null is no limit.
-- for: internal
create view livewell_private.limits as
select
    l.name, l.kind, l.provider, l.state, l.limiter, l.send_within, l.concurrent, l.breaker_trials,
    least(l.requests_per_minute, u.learned_per_minute) as requests_per_minute,
    least(l.requests_per_hour, u.learned_per_hour) as requests_per_hour,
    least(l.tokens_per_minute, u.learned_tokens_per_minute) as tokens_per_minute,
    least(l.tokens_per_hour, u.learned_tokens_per_hour) as tokens_per_hour
from (
    select
        e.name, case when e.name = e.provider then 'account' else 'endpoint' end as kind, e.provider,
        case when p.state = 'active' then e.state else p.state end as state, e.limiter, e.send_within, e.requests_per_minute,
        e.requests_per_hour, e.tokens_per_minute, e.tokens_per_hour, e.concurrent, e.breaker_trials
    from livewell_private.endpoint as e join livewell_private.provider as p on p.name = e.provider
    union all
    select
        k.provider || '@' || k.scope, 'keys', k.provider, 'active', 'strict',
        coalesce((select max(e.send_within) from livewell_private.endpoint as e where e.provider = k.provider), interval '2 seconds'),
        min(k.requests_per_minute), min(k.requests_per_hour), min(k.tokens_per_minute), min(k.tokens_per_hour),
        min(k.concurrent), 1
    from livewell_private.api_key as k
    where k.enabled
    group by k.provider, k.scope
) as l
join livewell_private.limit_use as u on u.name = l.name;
