-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_market_calendar(p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_missing text[];
begin
    perform livewell.require_primary();
    v_missing := array(
        select u.code from livewell.exchanges_in_use(p_now) as u (code)
        where not exists (
            select from livewell.exchange as e where e.code = u.code and e.known_until >= p_now + interval '30 days'
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
end $function$;
