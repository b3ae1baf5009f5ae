-- Subscribes sessions to items, a batch in one call: session, type and key by position. Answers by position: subscribed,
-- already, gone or too_many. A type or key that is wrong refuses the batch.
-- for: service
create or replace function livewell.subscribe(
    p_sessions uuid[], p_types text[], p_keys text[], p_now timestamptz default clock_timestamp()
) returns text[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_items bigint[];
begin
    perform livewell_private.require_primary();
    perform livewell_private.require_same_length(cardinality(p_sessions), cardinality(p_types), cardinality(p_keys));
    select array_agg(m.item_id order by m.item_position) into v_items from livewell_private.make_items(p_types, p_keys, p_now) as m;
    return coalesce(livewell_private.add_subscriptions(p_sessions, v_items, p_now), '{}');
end $$;
