-- The verdict on refreshes that were stored, or for a reason were not: unchanged is a success too, and so is what their item had already.
-- What is as it was, is unchanged, unless it came from somewhere else: the application may have written, before the provider did, what
-- nobody was told.
-- for: internal
create or replace function livewell_private.judge_stored(p_ended livewell_private.ended_fetch[], p_jobs bigint[], p_reasons text[])
returns livewell_private.fetch_verdict[]
language plpgsql stable
set search_path = pg_catalog, pg_temp set enable_hashjoin = on as $$
begin
    return (
        select array_agg(row (
            e.job, f.outcome, case when f.outcome <> 'fetched' then j.reason end,
            coalesce(case j.reason
                when 'wrong_key' then 'a row is of another key'
                when 'missing_key' then 'a row lacks a part of its key'
                when 'missing_source_time' then 'a row has no source time'
                when 'old_data' then 'the source time is older than what is stored'
                when 'many_rows' then 'several rows, where a key has one'
            end, e.message)
        )::livewell_private.fetch_verdict)
        from unnest(p_ended) as e
        left join unnest(p_jobs, p_reasons) as j (job, reason) on j.job = e.job
        left join livewell_private.item as i on i.id = e.item and i.data_type = e.type and i.key = e.key
        cross join lateral (
            select case
                when j.reason is null then 'fetched'
                when j.reason = 'same_source_time' then 'unchanged'
                when j.reason <> 'same_content' then 'refused'
                when i.version > 0 and coalesce(e.hash = encode(i.content_hash, 'hex'), true) then 'unchanged'
                else 'fetched'
            end as outcome
        ) as f
    );
end $$;
