-- The task of the calendars where no program runs it: warns about exchanges in use whose sessions are not known for the month to
-- come, and asks to be run again soon, for a program to come first. A program writes them instead.
-- for: internal
create or replace function livewell_private.task_market_calendar(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_missing text[];
begin
    perform livewell_private.require_primary();
    v_missing := array(
        select u.code from livewell.exchanges_in_use(p_now) as u (code)
        where not exists (
            select from livewell_private.exchange as e where e.code = u.code and e.known_until >= p_now + interval '30 days'
        )
    );
    perform livewell.miss_calendar(
        m.code, format('the sessions of %s are not known for the month to come: no program with the extra market runs the task', m.code),
        p_now
    )
    from unnest(v_missing) as m (code);
    return jsonb_build_object(
        'missing', to_jsonb(v_missing), 'again_in', case when v_missing <> '{}' then '1 hour' end
    );
end $$;
