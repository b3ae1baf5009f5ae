-- Stores the rows of refreshes whose type names no table: one record per key, its row, or the list of its rows where a key may have
-- many. Older ones than those there are not written. Answers with a verdict on each.
-- for: internal
create or replace function livewell_private.store_records(p_type livewell_private.data_type, p_ended livewell_private.ended_fetch[], p_now timestamptz)
returns livewell_private.fetch_verdict[]
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
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
        left join livewell_private.record as r on r.data_type = p_type.name and r.key = e.key
    ),
    stored as (
        insert into livewell_private.record as r (data_type, key, value, fetched_at, source_time, first_seen_at)
        select p_type.name, j.key, case when j.many then j.rows else j.rows -> 0 end, p_now, j.source_time, p_now
        from judged as j where j.not_stored is null order by j.key
        on conflict (data_type, key) do update
        set value = excluded.value, fetched_at = excluded.fetched_at, source_time = excluded.source_time
        where r.source_time is null or excluded.source_time is null or excluded.source_time >= r.source_time
    )
    select array_agg(j.job), array_agg(j.not_stored) into v_jobs, v_reasons from judged as j where j.not_stored is not null;
    return livewell_private.judge_stored(p_ended, v_jobs, v_reasons);
end $$;
