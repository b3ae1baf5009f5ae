-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.store_by_type(p_locked livewell.ended_fetch[], p_now timestamp with time zone)
 RETURNS livewell.fetch_verdict[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_verdicts livewell.fetch_verdict[];
    v_type record;
begin
    select array_agg(case
        when e.outcome not in ('fetched', 'unchanged') then row (e.job, e.outcome, e.reason, e.message)::livewell.fetch_verdict
        when e.item is null then row (e.job, 'refused', 'unknown_item', 'its job is no refresh of such an item')::livewell.fetch_verdict
        when e.rows = '[]' then row (e.job, 'refused', 'empty', 'no rows')::livewell.fetch_verdict
        else row (e.job, 'refused', 'schema', 'a row is an object with fields')::livewell.fetch_verdict
    end)
    into v_verdicts
    from unnest(p_locked) as e
    where e.outcome not in ('fetched', 'unchanged') or e.item is null
        or e.outcome = 'fetched' and coalesce(jsonb_typeof(e.rows -> 0) <> 'object' or e.rows -> 0 = '{}', true);
    for v_type in
        select t as declared, array_agg(e order by e.key) as ended
        from unnest(p_locked) as e
        join livewell.data_type as t on t.name = e.type
        where e.item is not null
            and (e.outcome = 'unchanged' or e.outcome = 'fetched' and jsonb_typeof(e.rows -> 0) = 'object' and e.rows -> 0 <> '{}')
        group by t.name, t.table_name order by t.table_name, t.name
    loop
        v_verdicts := v_verdicts || livewell.store_type(v_type.declared, v_type.ended, p_now);
    end loop;
    return v_verdicts;
end $function$;
