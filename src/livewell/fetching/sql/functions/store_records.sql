-- Stores the rows of refreshes whose type names no table: one record per key, its row, or the list of its rows where a key may have
-- many. Older ones than those there are not written. What is there already but for its volatile fields is the same content. Answers with a
-- verdict on each.
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
        select e.*, n.value as content, case
            when e.many is not true and jsonb_array_length(e.rows) > 1 then 'many_rows'
            when e.source_time is null and p_type.source_rule is not null then 'missing_source_time'
            when e.source_time < r.source_time then 'old_data'
            when e.source_time = r.source_time and p_type.source_rule = 'newer' then 'same_source_time'
        end as not_stored,
        r.value is not null and livewell_private.lasting(r.value, e.volatile) = livewell_private.lasting(n.value, e.volatile) as is_same
        from unnest(p_ended) as e
        cross join lateral (select case when e.many then e.rows else e.rows -> 0 end as value) as n
        left join livewell_private.record as r on r.data_type = p_type.name and r.key = e.key
    ),
    stored as (
        insert into livewell_private.record as r (data_type, key, value, fetched_at, source_time, first_seen_at)
        select p_type.name, j.key, j.content, p_now, j.source_time, p_now
        from judged as j where j.not_stored is null order by j.key
        on conflict (data_type, key) do update
        set value = excluded.value, fetched_at = excluded.fetched_at, source_time = excluded.source_time
        where r.source_time is null or excluded.source_time is null or excluded.source_time >= r.source_time
    )
    select array_agg(j.job), array_agg(coalesce(j.not_stored, 'same_content')) into v_jobs, v_reasons
    from judged as j where j.not_stored is not null or j.is_same;
    return livewell_private.judge_stored(p_ended, v_jobs, v_reasons);
end $$;
