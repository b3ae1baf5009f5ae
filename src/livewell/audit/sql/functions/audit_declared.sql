-- Records what a declaration added and changed.
-- for: internal
create or replace function livewell_private.audit_declared(
    p_table_name text, p_added text, p_changed text, p_changes livewell_private.declared_change[], p_reason text, p_actor text,
    p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.audit_change(
        case c.change when 'add' then p_added else p_changed end, p_table_name, c.name, c.old, c.new, p_reason, p_actor, p_now
    )
    from unnest(p_changes) as c
    where c.change <> 'same';
end $$;
