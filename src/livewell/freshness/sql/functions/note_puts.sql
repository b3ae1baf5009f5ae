-- Notes of items that they were put, and from when: a fetch that has begun by now is not stored over it. The caller has locked the items.
-- for: internal
create or replace function livewell_private.note_puts(
    p_item_ids bigint[], p_source_times timestamptz[], p_hashes bytea[], p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
begin
    update livewell_private.item as i
    set put_at = greatest(i.put_at, p_now), put_source_time = p.source_time,
        -- Without one it is not known what a fetch would have to bring to be the same.
        content_hash = p.hash
    from unnest(p_item_ids, p_source_times, p_hashes) as p (id, source_time, hash)
    where i.id = p.id;
end $$;
