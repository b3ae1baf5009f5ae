-- What the fetches of sampled items found: whether what viewers saw was still as at the source, and whether it did no harm (within
-- its TTL, or unchanged). Asked before the items themselves learn. A fetch that brought nothing says nothing, and
-- neither does the first one.
-- for: internal
create or replace function livewell_private.learn_samples(p_ended livewell_private.ended_refresh[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    with found as (
        delete from livewell_private.sample as s
        using unnest(p_ended) as e
        where s.item_id = e.item_id and e.outcome in ('fetched', 'unchanged')
        returning e.item_id, e.outcome, e.hash
    )
    insert into livewell_private.sample_result (data_type, fresh, ok)
    select i.data_type, n.unchanged, n.unchanged or coalesce(i.expires_at > p_now, false)
    from found as f
    join livewell_private.item as i on i.id = f.item_id and i.fetched_at is not null
    cross join lateral (
        select f.outcome = 'unchanged' or coalesce(f.hash = i.content_hash, false) as unchanged
    ) as n;
end $$;
