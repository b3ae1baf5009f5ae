-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.store_records(p_type livewell.data_type, p_ended livewell.ended_fetch[], p_now timestamp with time zone)
 RETURNS livewell.fetch_verdict[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
    v_jobs bigint[];
    v_reasons text[];
begin
    with judged as materialized (
        select e.*, case
            when e.many is not true and jsonb_array_length(e.rows) > 1 then 'many_rows'
            when e.source_time is null and p_type.source_rule is not null then 'missing_source_time'
            when e.source_time < r.source_time then 'old_data'
            when e.source_time = r.source_time and p_type.source_rule = 'newer' then 'same_source_time'
        end as not_stored
        from unnest(p_ended) as e
        left join livewell.record as r on r.data_type = p_type.name and r.key = e.key
    ),
    stored as (
        insert into livewell.record as r (data_type, key, value, fetched_at, source_time, first_seen_at)
        select p_type.name, j.key, case when j.many then j.rows else j.rows -> 0 end, p_now, j.source_time, p_now
        from judged as j where j.not_stored is null order by j.key
        on conflict (data_type, key) do update
        set value = excluded.value, fetched_at = excluded.fetched_at, source_time = excluded.source_time
        where r.source_time is null or excluded.source_time is null or excluded.source_time >= r.source_time
    )
    select array_agg(j.job), array_agg(j.not_stored) into v_jobs, v_reasons from judged as j where j.not_stored is not null;
    return livewell.judge_stored(p_ended, v_jobs, v_reasons);
end $function$;
