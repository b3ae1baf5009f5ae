-- Writes the sessions of an exchange for a time, in place of what was known of it. When a session within the time that was known
-- before is another now, what is watched of types with market hours is checked again. Answers how many sessions are new or gone.
-- for: service
create or replace function livewell.put_calendar(
    p_exchange text, p_from timestamptz, p_until timestamptz, p_opens timestamptz[], p_closes timestamptz[],
    p_now timestamptz default clock_timestamp()
) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_old livewell_private.exchange;
    v_changed bigint;
    v_moved boolean;
begin
    perform livewell_private.require_primary();
    if p_exchange is null or p_exchange !~ '^[A-Z0-9]{1,20}$' or (p_until > p_from) is not true
        or cardinality(p_opens) is distinct from cardinality(p_closes) or exists (
            select from (
                select s.opens_at, s.closes_at, lag(s.closes_at) over (order by s.opens_at) as before
                from unnest(p_opens, p_closes) as s (opens_at, closes_at)
            ) as s
            where (s.opens_at >= p_from and s.closes_at > s.opens_at and s.opens_at < p_until) is not true or s.before > s.opens_at
        )
    then
        raise exception using errcode = 'LWR06', message = format('the sessions of %s cannot be so', coalesce(quote_ident(p_exchange), '(none)')),
            hint = 'each opens before it closes, after the one before, within the time that is written';
    end if;
    perform livewell_private.take_lock('calendars');
    select e.* into v_old from livewell_private.exchange as e where e.code = p_exchange;
    insert into livewell_private.exchange as e (code, known_from, known_until, refreshed_at) values (p_exchange, p_from, p_until, p_now)
    on conflict (code) do update set known_from = p_from, known_until = p_until, refreshed_at = p_now;
    with wanted as (
        select s.opens_at, s.closes_at from unnest(p_opens, p_closes) as s (opens_at, closes_at)
    ),
    gone as (
        delete from livewell_private.market_session as m
        where m.exchange = p_exchange and not exists (
            select from wanted as w where w.opens_at = m.opens_at and w.closes_at = m.closes_at
        )
        returning m.opens_at
    ),
    come as (
        select w.* from wanted as w
        where not exists (
            select from livewell_private.market_session as m
            where m.exchange = p_exchange and m.opens_at = w.opens_at and m.closes_at = w.closes_at
        )
    ),
    written as (
        -- One that closes at another time now is not gone yet for this statement.
        insert into livewell_private.market_session as m (exchange, opens_at, closes_at)
        select p_exchange, c.opens_at, c.closes_at from come as c
        on conflict (exchange, opens_at) do update set closes_at = excluded.closes_at
        returning m.opens_at
    )
    select count(*), coalesce(bool_or(d.opens_at >= greatest(p_from, v_old.known_from, p_now) and d.opens_at < v_old.known_until), false)
    into v_changed, v_moved
    from (select g.opens_at from gone as g union select w.opens_at from written as w) as d;
    if v_moved then
        perform livewell_private.gate_changed('market_hours', p_now);
    end if;
    return v_changed;
end $$;
