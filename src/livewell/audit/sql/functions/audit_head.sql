-- The number and hash of one seal: a head, to be kept elsewhere; number 0 is where every chain begins.
-- for: service
create or replace function livewell.audit_head(p_number bigint) returns table (number bigint, hash bytea)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select s.number, s.hash from livewell_private.audit_seal s where s.number = p_number
    union all
    select 0, decode(repeat('00', 32), 'hex') where p_number = 0
$$;
