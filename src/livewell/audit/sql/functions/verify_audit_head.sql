-- Whether the chain still holds a head that was kept elsewhere; the only proof that no tail was cut or history rewritten.
-- for: service
create or replace function livewell.verify_audit_head(p_number bigint, p_hash bytea) returns table (
    problem text, seal bigint, entry_id bigint, detail text
)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select
        case when s.number is null then 'tail_cut' else 'history_rewritten' end,
        kept.number, null::bigint,
        case
            when s.number is null then format('the kept head is not there: the chain ends at seal %s',
                (select coalesce(max(l.number), 0) from livewell_private.audit_seal l))
            else 'the seal of that number is not the one that was kept'
        end
    from (values (p_number, p_hash)) as kept (number, hash)
    left join livewell_private.audit_seal s on s.number = kept.number
    where kept.number > 0 and s.hash is distinct from kept.hash
$$;
