-- The seals after one up to another as lines that can be verified without the database: a seal's entries, the seal, its hash.
-- for: service
create or replace function livewell.export_audit(p_after bigint, p_upto bigint) returns setof text
language sql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
    with chain as materialized (
        select s.number, s.members, s.hash, s as seal from livewell_private.audit_seal s where s.number > p_after and s.number <= p_upto
    )
    select part.line
    from (
        select c.number, 1 as place, entry.id, '{"id" : ' || entry.id || ', ' || entry.body as line
        from chain c
        cross join lateral unnest(c.members) as r
        join livewell_private.audit_line entry on entry.id >= lower(r) and entry.id < upper(r)
        union all
        select c.number, 2, 0, livewell_private.audit_seal_line(c.seal) from chain c
        union all
        select c.number, 3, 0, json_build_object('head', c.number, 'hash', encode(c.hash, 'hex'))::text from chain c
    ) part
    order by part.number, part.place, part.id
$$;
