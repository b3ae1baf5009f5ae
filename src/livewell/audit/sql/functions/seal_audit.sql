-- Chains the entries committed since the last seal into one more; one sealer at a time, and no writer waits for it.
-- An id below the high-water mark that is not there yet stays open until everyone who could own it has ended: the ceiling
-- is an id drawn after looking, so whoever held such an id has a lower one.
-- for: service
create or replace function livewell.seal_audit(
    p_limit integer default 10000, p_now timestamptz default clock_timestamp()
) returns table (outcome text, number bigint, entries integer, hash bytea)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
#variable_conflict use_column
declare
    v_last livewell_private.audit_seal;
    v_next livewell_private.audit_seal;
    v_ids bigint[];
    v_horizon xid8;
begin
    perform livewell_private.require_primary();
    if not livewell_private.try_lock('audit_seal') then
        return query select 'busy', null::bigint, 0, null::bytea;
        return;
    end if;
    v_last := livewell_private.last_audit_seal();

    with due as (
        select e.id
        from unnest(v_last.open_ids) as hole (ids)
        join livewell_private.audit_entry e on e.id >= lower(hole.ids) and e.id < upper(hole.ids)
        union all
        (select e.id from livewell_private.audit_entry e where e.id > v_last.high_water order by e.id limit p_limit)
        order by id
        limit p_limit
    )
    select
        array_agg(line.id order by line.id),
        array_agg(sha256(convert_to('{"id" : ' || line.id || ', ' || line.body, 'UTF8')) order by line.id),
        range_agg(int8range(line.id, line.id, '[]')),
        pg_snapshot_xmin(pg_current_snapshot())
    into v_ids, v_next.digests, v_next.members, v_horizon
    from due
    join livewell_private.audit_line line on line.id = due.id;

    v_next.entries := coalesce(cardinality(v_ids), 0);
    if v_next.entries = 0 then
        return query select 'nothing', v_last.number, 0, v_last.hash;
        return;
    end if;
    v_next.number := v_last.number + 1;
    v_next.sealed_at := p_now;
    v_next.high_water := greatest(v_last.high_water, v_ids[v_next.entries]);
    v_next.open_ids := v_last.open_ids
        + int8multirange(int8range(v_last.high_water + 1, v_next.high_water + 1))
        - v_next.members
        - int8multirange(int8range(0, least(
            livewell_private.audit_settled_up_to(v_horizon),
            case when v_next.entries = p_limit then v_ids[v_next.entries] end) + 1));
    v_next.ceiling := livewell_private.fresh_transaction_id();
    v_next.previous_hash := v_last.hash;
    v_next.hash := sha256(convert_to(livewell_private.audit_seal_line(v_next), 'UTF8'));
    insert into livewell_private.audit_seal values (v_next.*);
    return query select 'sealed', v_next.number, v_next.entries, v_next.hash;
end
$$;
