-- The canonical form of a seal: its hash is the SHA-256 of this line, which carries the hash of the seal before.
-- for: internal
create or replace function livewell_private.audit_seal_line(p_seal livewell_private.audit_seal) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
    select json_build_object(
        'seal', p_seal.number,
        'sealed_at', to_char(p_seal.sealed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'entries', p_seal.entries,
        'members', p_seal.members::text,
        'digest', (
            select encode(sha256(string_agg(d.digest, ''::bytea order by d.place)), 'hex')
            from unnest(p_seal.digests) with ordinality as d (digest, place)
        ),
        'high_water', p_seal.high_water,
        'open_ids', p_seal.open_ids::text,
        'ceiling', p_seal.ceiling::text,
        'previous', encode(p_seal.previous_hash, 'hex')
    )::text
$$;
