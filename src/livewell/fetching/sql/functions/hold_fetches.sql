-- Locks the jobs of ended refreshes in the order of their ids, and then their items, and answers with those whose lease is still the
-- caller's, with the hash of what their item had: whoever lost it stores nothing. One that names another item than its job's has none;
-- one that was throttled teaches its item nothing.
-- for: internal
create or replace function livewell_private.hold_fetches(p_ended livewell_private.ended_fetch[]) returns livewell_private.ended_fetch[]
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    v_held livewell_private.ended_fetch[];
    v_items bigint[];
begin
    select array_agg(row (
        e.job_id, e.lease_token, i.id, e.data_type, e.key, e.outcome, e.rows, e.many, e.source_time, e.hash, e.etag,
        e.last_modified, e.reason, e.message, e.seconds, e.status, e.bytes, e.tokens, e.rate, e.sent, i.content_hash
    )::livewell_private.ended_fetch), array_agg(i.id) filter (where e.outcome <> 'throttled')
    into v_held, v_items
    from unnest(p_ended) as e
    cross join lateral (
        select j.lease_token, j.kind, j.payload ->> 'item' as item from livewell_private.job_live as j where j.id = e.job_id for update
    ) as j
    left join livewell_private.item as i
        on i.id = e.item_id and i.data_type = e.data_type and i.key = e.key
        and j.item = e.item_id::text and j.kind = 'refresh.' || e.data_type
    where j.lease_token = e.lease_token;
    perform from livewell_private.item as i where i.id = any (v_items) order by i.id for no key update;
    return v_held;
end $$;
