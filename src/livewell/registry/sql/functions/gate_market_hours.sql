-- Which keys may be refreshed because their exchange is open, and when the others' opens. Of an exchange whose sessions are not
-- known at this time nobody can say that it is closed: its keys may be refreshed, and it is warned about.
-- for: internal
create or replace function livewell_private.gate_market_hours(p_keys text[], p_now timestamptz, p_type text default null)
returns table (key text, open boolean, opens_at timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_keys text[];
    v_exchanges text[];
begin
    select array_agg(x.key), array_agg(x.exchange) into v_keys, v_exchanges from livewell_private.exchanges_of(p_type, p_keys, p_now) as x;
    perform livewell_private.warn(
        'registry.calendar_unknown', coalesce(s.exchange, ''),
        format('the sessions of %s around %s are not known: its gate holds nothing back', coalesce(s.exchange, 'no exchange'), p_now), p_now
    )
    from (select distinct x.exchange from unnest(v_exchanges) as x (exchange)) as s
    where not exists (
        select from livewell_private.exchange as e where e.code = s.exchange and p_now >= e.known_from and p_now < e.known_until
    );
    return query
    with states as (
        select
            e.code, exists (
                select from livewell_private.market_session as m
                where m.exchange = e.code and m.opens_at <= p_now and m.closes_at > p_now
            ) as open,
            coalesce((
                select m.opens_at from livewell_private.market_session as m
                where m.exchange = e.code and m.opens_at > p_now
                order by m.opens_at limit 1
            ), e.known_until) as opens_at
        from livewell_private.exchange as e
        where e.code = any (v_exchanges) and p_now >= e.known_from and p_now < e.known_until
    )
    select k.key, coalesce(s.open, true), case when not s.open then s.opens_at end
    from unnest(v_keys, v_exchanges) as k (key, exchange)
    left join states as s on s.code = k.exchange;
end $$;
