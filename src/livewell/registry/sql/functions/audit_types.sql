-- Records the types that were added and changed, with what each was and what it is.
-- for: internal
create or replace function livewell_private.audit_types(p_changes jsonb, p_reason text, p_actor text, p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_entries jsonb;
begin
    select jsonb_agg(jsonb_build_object(
        'event', case c.change when 'add' then 'type_added' when 'remove' then 'type_removed' else 'type_changed' end,
        'table_name', 'data_type', 'record_id', c.name,
        'operation', case c.change when 'add' then 'insert' when 'remove' then 'delete' else 'update' end,
        'old', livewell_private.masked_fetch(c.old), 'new', livewell_private.masked_fetch(c.new), 'reason', p_reason, 'actor', p_actor
    ) order by c.name)
    into v_entries
    from jsonb_to_recordset(p_changes) as c (name text, change text, old jsonb, new jsonb)
    where c.change <> 'same';
    if v_entries is not null then
        perform livewell.audit_write(v_entries, p_now);
    end if;
end $$;
