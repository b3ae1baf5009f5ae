-- Records what was declared and what was changed, with what it was and what it is.
-- for: internal
create or replace function livewell_private.audit_budgets(p_changes jsonb, p_reason text, p_actor text, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_entries jsonb;
begin
    select jsonb_agg(jsonb_build_object(
        'event', c.word || case when c.old is null then '_declared' else '_changed' end, 'table_name', c.word,
        'record_id', c.name, 'operation', case when c.old is null then 'insert' else 'update' end,
        'old', c.old, 'new', c.new, 'reason', p_reason, 'actor', p_actor
    ) order by c.rank, c.name)
    into v_entries
    from (
        select r.rank, r.name, r.old, r.new, case r.thing when 'key' then 'api_key' else r.thing end as word
        from jsonb_to_recordset(p_changes) as r (rank integer, thing text, name text, old jsonb, new jsonb)
    ) as c;
    if v_entries is not null then
        perform livewell.audit_write(v_entries, p_now);
    end if;
end $$;
