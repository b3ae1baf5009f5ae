-- Makes what is watched due when what decides on its freshness has changed: its type, or the gate of its type.
-- for: internal
create or replace function livewell_private.watched_are_due() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if tg_table_name = 'data_type' then
        perform livewell_private.due_now(array[new.name], new.updated_at);
    else
        perform livewell_private.due_now(array(select t.name from livewell_private.data_type as t where t.gate = new.gate), new.changed_at);
    end if;
    return null;
end $$;
