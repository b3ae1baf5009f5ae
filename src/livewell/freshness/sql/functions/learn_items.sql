-- What fetches taught: whether the content had changed since the last one and how long that was, how many bytes it took, and
-- when the item is due again. The first fetch of an item says nothing of change. Items are locked in the order of their ids. A
-- type whose rows have their own TTL, or that judges by a function of its own, is looked at again at once.
-- for: internal
create or replace function livewell.learn_items(
    p_item_ids bigint[], p_outcomes text[], p_hashes bytea[], p_bytes bigint[], p_now timestamptz
) returns void
language plpgsql security definer
set search_path = '' as $$
begin
    perform from livewell.item as i where i.id = any (p_item_ids) order by i.id for no key update;
    if exists (select from livewell.probe as p where p.item_id = any (p_item_ids)) then
        perform livewell.learn_probes(p_item_ids, p_outcomes, p_hashes, p_now);
    end if;
    with taught as (
        select
            i.id, i.data_type, a.outcome, a.hash, a.bytes, t.ttl, t.ttl_column is null and t.staleness = 'livewell.is_stale' as plain,
            a.outcome in ('fetched', 'unchanged') as good,
            a.outcome in ('fetched', 'unchanged') and i.fetched_at is not null as seen_before,
            a.outcome = 'fetched' and i.fetched_at is not null and (a.hash is null or a.hash is distinct from i.content_hash) as changed,
            greatest(0, extract(epoch from p_now - i.fetched_at) / 60) as minutes
        from unnest(p_item_ids, p_outcomes, p_hashes, p_bytes) as a (item_id, outcome, hash, bytes)
        join livewell.item as i on i.id = a.item_id
        join livewell.data_type as t on t.name = i.data_type
    ),
    kept as (
        update livewell.item as i
        set last_outcome = t.outcome, last_outcome_at = p_now,
            fetched_at = case when t.good then p_now else i.fetched_at end,
            expires_at = case when t.good then p_now + t.ttl else i.expires_at end,
            content_hash = case when t.good then coalesce(t.hash, i.content_hash) else i.content_hash end,
            fetches = i.fetches + t.seen_before::integer, changes = i.changes + t.changed::integer,
            minutes_between = i.minutes_between + case when t.seen_before then t.minutes else 0 end,
            bytes_mean = case when t.good then coalesce(i.bytes_mean + 0.3 * (t.bytes - i.bytes_mean), t.bytes, i.bytes_mean) else i.bytes_mean end,
            due_at = case
                when t.good and t.plain then p_now + t.ttl
                when t.good then p_now
                when t.outcome = 'gone' then p_now + greatest(t.ttl, interval '1 hour')
                else p_now + least(t.ttl, interval '5 minutes')
            end
        from taught as t
        where i.id = t.id
        returning i.data_type, t.seen_before, t.changed, t.minutes, t.bytes, t.good
    )
    insert into livewell.learned (data_type, fetches, changes, minutes_between, bytes, sizes)
    select k.data_type, count(*) filter (where k.seen_before), count(*) filter (where k.changed),
        coalesce(sum(k.minutes) filter (where k.seen_before), 0), coalesce(sum(k.bytes) filter (where k.good), 0),
        count(k.bytes) filter (where k.good)
    from kept as k
    group by k.data_type;
end $$;
