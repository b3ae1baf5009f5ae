-- The verdict on refreshes that were stored, or held back for a reason: unchanged is a success too.
-- for: internal
create or replace function livewell_private.judge_stored(p_ended livewell_private.ended_fetch[], p_judged livewell_private.judged_fetch[])
returns livewell_private.fetch_verdict[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select array_agg(row (
            e.job_id,
            case when j.reason is null and same.content or j.reason = 'same_source_time' then 'unchanged'
                when j.reason is null then 'fetched' else 'refused' end,
            case when j.reason is null and same.content then 'same_content' else j.reason end,
            case j.reason
                when 'wrong_key' then 'a row is of another key'
                when 'missing_key' then 'a row lacks a part of its key'
                when 'missing_source_time' then 'a row has no source time'
                when 'old_data' then 'the source time is older than what is stored'
                when 'many_rows' then 'several rows, where a key has one'
            end
        )::livewell_private.fetch_verdict)
        from unnest(p_ended) as e
        left join unnest(p_judged) as j on j.job_id = e.job_id
        cross join lateral (select coalesce(e.hash = e.known_hash, false) as content) as same
    );
end $$;
