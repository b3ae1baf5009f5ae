-- Entries with ids after one up to another that stand in the sealed range and are in no seal: put there afterwards.
-- After 0 means from the lowest there is: no entry was ever given an id below 1.
-- for: service
create or replace function livewell.verify_audit_entries(p_after bigint, p_upto bigint) returns table (
    problem text, seal bigint, entry_id bigint, detail text
)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    with head as materialized (
        select * from livewell_private.last_audit_seal()
    ),
    accounted as materialized (
        select coalesce(range_agg(s.members), '{}') + head.open_ids as ids
        from head
        left join livewell_private.audit_seal s on s.members && int8multirange(int8range(p_after + 1, p_upto + 1))
        group by head.open_ids
    )
    select 'entry_inserted', null::bigint, e.id, 'the entry is in no seal, and its id can no longer come from a late commit'
    from livewell_private.audit_entry e
    cross join head
    cross join accounted
    where e.id > case p_after when 0 then -9223372036854775808 else p_after end
        and e.id <= p_upto and e.id <= head.high_water and not e.id <@ accounted.ids
    order by e.id
$$;
