-- Where the chain ends and what is not in it yet. Missing ids are drawn numbers without an entry above the last seal:
-- writes rolled back or still open, or a tail that was cut; only a head kept elsewhere can tell.
-- for: service
create or replace function livewell.audit_state() returns table (
    head_number bigint, head_hash bytea, sealed_at timestamptz, sealed_entries bigint, high_water bigint,
    unsealed_entries bigint, oldest_unsealed_at timestamptz, missing_ids bigint
)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    with head as materialized (
        select * from livewell_private.last_audit_seal()
    ),
    unsealed as (
        select e.id, e.at
        from head
        cross join lateral unnest(head.open_ids) as hole (ids)
        join livewell_private.audit_entry e on e.id >= lower(hole.ids) and e.id < upper(hole.ids)
        union all
        select e.id, e.at from head join livewell_private.audit_entry e on e.id > head.high_water
    )
    select
        head.number, head.hash, head.sealed_at,
        (select coalesce(sum(s.entries), 0)::bigint from livewell_private.audit_seal s),
        head.high_water,
        (select count(*) from unsealed),
        (select min(u.at) from unsealed u),
        greatest(coalesce(pg_sequence_last_value('livewell_private.audit_entry_id_seq'), 0) - head.high_water
            - (select count(*) from unsealed u where u.id > head.high_water), 0)
    from head
$$;
