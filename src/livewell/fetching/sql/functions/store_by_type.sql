-- Judges refreshes whose leases hold: what brought rows or says "unchanged" is stored type by type, in the order of the tables; the
-- others, and what was put meanwhile, are what they are. Rows that are none, and those of a job that is no refresh of their item, are refused at once.
-- for: internal
create or replace function livewell_private.store_by_type(p_locked livewell_private.ended_fetch[], p_now timestamptz)
returns livewell_private.fetch_verdict[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_verdicts livewell_private.fetch_verdict[];
    v_type record;
begin
    select array_agg(case
        when e.outcome not in ('fetched', 'unchanged') or e.reason = 'put_meanwhile' then row (e.job, e.outcome, e.reason, e.message)::livewell_private.fetch_verdict
        when e.item is null then row (e.job, 'refused', 'unknown_item', 'its job is no refresh of such an item')::livewell_private.fetch_verdict
        when e.rows = '[]' then row (e.job, 'refused', 'empty', 'no rows')::livewell_private.fetch_verdict
        else row (e.job, 'refused', 'schema', 'a row is an object with fields')::livewell_private.fetch_verdict
    end)
    into v_verdicts
    from unnest(p_locked) as e
    where e.outcome not in ('fetched', 'unchanged') or e.item is null or e.reason = 'put_meanwhile'
        or e.outcome = 'fetched' and coalesce(jsonb_typeof(e.rows -> 0) <> 'object' or e.rows -> 0 = '{}', true);
    for v_type in
        select t as declared, array_agg(e order by e.key) as ended
        from unnest(p_locked) as e
        join livewell_private.data_type as t on t.name = e.type
        where e.item is not null and e.reason is distinct from 'put_meanwhile'
            and (e.outcome = 'unchanged' or e.outcome = 'fetched' and jsonb_typeof(e.rows -> 0) = 'object' and e.rows -> 0 <> '{}')
        group by t.name, t.table_name order by t.table_name, t.name
    loop
        v_verdicts := v_verdicts || livewell_private.store_type(v_type.declared, v_type.ended, p_now);
    end loop;
    return v_verdicts;
end $$;
