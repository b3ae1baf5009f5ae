-- Makes what is watched of all types behind a gate due when what the gate answers has changed.
-- for: internal
create or replace function livewell_private.watched_behind_gate_are_due() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.due_now(array(select t.name from livewell_private.known_types as t where t.gate = new.gate), new.changed_at);
    return null;
end $$;
