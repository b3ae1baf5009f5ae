-- The verdict on refreshes that are refused all for one reason.
-- for: internal
create or replace function livewell_private.refuse_fetches(p_ended livewell_private.ended_fetch[], p_reason text, p_message text)
returns livewell_private.fetch_verdict[]
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select array_agg(row (e.job, 'refused', p_reason, p_message)::livewell_private.fetch_verdict) from unnest(p_ended) as e
$$;
