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
    v_ended := livewell.read_fetches(p_ended);
    perform livewell.require_type(e.data_type) from unnest(v_ended) as e;
    begin
        v_judged := livewell.store_by_type(v_ended, p_now);
        raise exception using errcode = 'P0001', message = 'all of it is known; nothing of it stays';
    exception when raise_exception then
        -- Another's word than ours would have come before the verdicts.
        if v_judged is null and v_ended is not null then
            raise;
        end if;
    end;
    return query
    select e.key, v.outcome, v.reason, coalesce(v.message, e.message)
    from unnest(v_ended) as e join unnest(v_judged) as v on v.job_id = e.job_id
    order by e.job_id;
end $function$;

grant execute on function livewell.rehearse_fetches(jsonb,timestamp with time zone) to livewell_service;
