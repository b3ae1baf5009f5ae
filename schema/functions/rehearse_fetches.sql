-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.rehearse_fetches(p_ended jsonb, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(key text, outcome text, reason text, message text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
    v_ended livewell.ended_fetch[];
    v_judged livewell.fetch_verdict[];
begin
    perform livewell.require_primary();
    -- Of no item, so that it makes no difference which one has such a number.
    v_ended := array(select jsonb_populate_record(e, '{"item": -1}') from unnest(livewell.read_fetches(p_ended)) as e);
    perform livewell.require_type(e.type) from unnest(v_ended) as e;
    begin
        v_judged := livewell.store_by_type(v_ended, p_now);
        raise exception using errcode = 'P0001', message = 'all of it is known; nothing of it stays';
    exception when raise_exception then
        -- Another's word than ours would have come before the verdicts.
        if v_judged is null and v_ended <> '{}' then
            raise;
        end if;
    end;
    return query
    select e.key, v.outcome, v.reason, v.message
    from unnest(v_ended) as e join unnest(v_judged) as v on v.job = e.job
    order by e.job;
end $function$;

grant execute on function livewell.rehearse_fetches(jsonb,timestamp with time zone) to livewell_service;
