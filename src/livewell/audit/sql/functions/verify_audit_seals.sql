-- What is wrong with the seals after one up to another and with the entries they cover; no row when nothing is.
-- Whether entries changed places is asked only while few do not fit: it compares each of them with each.
-- for: service
create or replace function livewell.verify_audit_seals(p_after bigint, p_upto bigint) returns table (
    problem text, seal bigint, entry_id bigint, detail text
)
language sql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
    with chain as (
        select s.number, s.members, s.digests, s.previous_hash, s.hash, s as seal, before.hash as hash_before
        from livewell_private.audit_seal s
        left join livewell_private.audit_seal before on before.number = s.number - 1
        where s.number > p_after and s.number <= p_upto
    ),
    expected as (
        select c.number, pair.id, pair.digest
        from chain c
        cross join lateral (
            select array_agg(i order by i) as ids
            from unnest(c.members) as r
            cross join lateral generate_series(lower(r), upper(r) - 1) as i
        ) member
        cross join lateral unnest(member.ids, c.digests) as pair (id, digest)
    ),
    unfit as materialized (
        select x.number, x.id, x.digest, line.body
        from expected x
        left join livewell_private.audit_line line on line.id = x.id
        where sha256(convert_to('{"id" : ' || line.id || ', ' || line.body, 'UTF8')) is distinct from x.digest
    )
    select 'seal_missing', c.number - 1, null::bigint, 'a seal of the chain is not there'
    from chain c
    where c.number > 1 and c.hash_before is null
    union all
    select 'seal_altered', c.number, null, 'the seal does not have the hash it carries'
    from chain c
    where c.hash <> sha256(convert_to(livewell_private.audit_seal_line(c.seal), 'UTF8'))
    union all
    select 'chain_broken', c.number, null, 'the seal does not follow the one before it'
    from chain c
    where c.previous_hash <> coalesce(
        c.hash_before, case when c.number = 1 then decode(repeat('00', 32), 'hex') else c.previous_hash end)
    union all
    select
        case
            when u.body is null then 'entry_deleted'
            when u.id is null or u.digest is null then 'seal_altered'
            when (select count(*) from unfit) <= 200 and exists (
                select from unfit other
                where other.id <> u.id
                    and other.digest = sha256(convert_to('{"id" : ' || other.id || ', ' || u.body, 'UTF8'))
            ) then 'entry_reordered'
            else 'entry_edited'
        end,
        u.number, u.id,
        case when u.body is null then 'the sealed entry is not there' else 'the entry is not what was sealed' end
    from unfit u
    order by 2, 3 nulls first, 1
$$;
