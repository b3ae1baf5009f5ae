-- The last seal of the next portion after a seal, of about so many entries (at least one seal); null at the end of the chain.
-- for: service
create or replace function livewell.next_audit_seals(p_after bigint, p_entries integer default 20000) returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select max(portion.number)
    from (
        select s.number, sum(s.entries) over (order by s.number) - s.entries as before
        from (
            select n.number, n.entries from livewell_private.audit_seal n where n.number > p_after order by n.number limit p_entries
        ) s
    ) portion
    where portion.before < p_entries
$$;
