-- Why what is stored of a key is not fresh, in a few words: that it is stale or was never fetched, and what stands in the way. What a
-- provider, a person or a function of the user's said is for the service alone.
-- for: internal
create or replace function livewell_private.why_stale(
    p_judged livewell_private.judged_key, p_fetched_at timestamptz, p_item livewell_private.item, p_hold text, p_for_service boolean
) returns text
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select concat_ws(
        ': ', case when p_fetched_at is null then 'never fetched' else 'stale' end,
        case
            when (p_judged).error is not null then concat('its check failed', ' (' || case when p_for_service then (p_judged).error end || ')')
            when (p_item).viewers > 0 and (p_item).decision = 'gate_closed' then 'its gate is closed'
            when (p_item).viewers > 0 and (p_item).decision = 'quota_closed' then 'the quota of its provider is used up'
            when (p_item).viewers > 0 and (p_item).decision = 'endpoint_closed' then 'its endpoint is closed'
            when (p_item).last_outcome in ('refused', 'failed', 'gone', 'cancelled')
                and (p_item).last_outcome_at >= coalesce(p_fetched_at, '-infinity')
                then concat(case (p_item).last_outcome
                    when 'refused' then 'the answer was refused'
                    when 'failed' then 'the fetch failed'
                    when 'gone' then 'the provider does not have it'
                    else 'its refresh was cancelled'
                end, ' (' || case when p_for_service then (p_item).last_reason end || ')')
            when (p_item).viewers > 0 then case
                when p_hold is not null then case when p_for_service then p_hold else 'it is held back' end
                when (p_item).decision = 'not_worth' then 'it seldom changes'
                when (p_item).decision in ('waiting', 'queue_full') then 'others go first'
                else 'being refreshed'
            end
            when p_fetched_at is not null then 'nobody watches it'
        end
    )
$$;
