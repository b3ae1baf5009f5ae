-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.set_fetches_aside(p_type livewell.data_type, p_ended livewell.ended_fetch[], p_now timestamp with time zone)
 RETURNS livewell.fetch_verdict[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_keys constant text[] := array(select e.key from unnest(p_ended) as e);
    v_holder text;
begin
    v_holder := livewell.note_locked_rows(
        'fetching.row_held', p_type.name, livewell.find_relation(p_type.table_name)::regclass, v_keys, v_keys, null, p_now
    );
    return array(select row (e.job_id, 'busy', 'row_held: ' || v_holder, null)::livewell.fetch_verdict from unnest(p_ended) as e);
end $function$;
