-- What the fetches of probed items found: whether what viewers saw was still as at the source, and whether it did no harm (within
-- its TTL, or unchanged). Asked before the items themselves learn. A fetch that brought nothing says nothing, and
-- neither does the first one.
-- for: internal
create or replace function livewell_private.learn_probes(
    p_item_ids bigint[], p_outcomes text[], p_hashes bytea[], p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    with found as (
        delete from livewell_private.probe as p
        using unnest(p_item_ids, p_outcomes, p_hashes) as a (item_id, outcome, hash)
        where p.item_id = a.item_id and a.outcome in ('fetched', 'unchanged')
        returning a.item_id, a.outcome, a.hash
    )
    insert into livewell_private.probe_result (data_type, fresh, ok)
    select i.data_type, n.unchanged, n.unchanged or coalesce(i.expires_at > p_now, false)
    from found as f
    join livewell_private.item as i on i.id = f.item_id and i.fetched_at is not null
    cross join lateral (
        select f.outcome = 'unchanged' or coalesce(f.hash = i.content_hash, false) as unchanged
    ) as n;
end $$;
