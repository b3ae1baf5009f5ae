-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.seal_audit(p_limit integer DEFAULT 10000, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(outcome text, number bigint, entries integer, hash bytea)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET jit TO 'off'
AS $function$
#variable_conflict use_column
declare
    v_last livewell.audit_seal;
    v_next livewell.audit_seal;
    v_ids bigint[];
    v_horizon xid8;
begin
    perform livewell.require_primary();
    if not livewell.try_lock('audit_seal') then
        return query select 'busy', null::bigint, 0, null::bytea;
        return;
    end if;
    v_last := livewell.last_audit_seal();

    with due as (
        select e.id
        from unnest(v_last.open_ids) as hole (ids)
        join livewell.audit_entry e on e.id >= lower(hole.ids) and e.id < upper(hole.ids)
        union all
        (select e.id from livewell.audit_entry e where e.id > v_last.high_water order by e.id limit p_limit)
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
    join livewell.audit_line line on line.id = due.id;

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
            livewell.audit_settled_up_to(v_horizon),
            case when v_next.entries = p_limit then v_ids[v_next.entries] end) + 1));
    v_next.ceiling := livewell.fresh_transaction_id();
    v_next.previous_hash := v_last.hash;
    v_next.hash := sha256(convert_to(livewell.audit_seal_line(v_next), 'UTF8'));
    insert into livewell.audit_seal values (v_next.*);
    return query select 'sealed', v_next.number, v_next.entries, v_next.hash;
end
$function$;

grant execute on function livewell.seal_audit(integer,timestamp with time zone) to livewell_service;
