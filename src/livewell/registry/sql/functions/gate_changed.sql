-- Notes that a gate answers otherwise than before.
-- for: internal
create or replace function livewell_private.gate_changed(p_gate text, p_now timestamptz) returns void
language sql
set search_path = pg_catalog, pg_temp as $$
    insert into livewell_private.gate_change as c (gate, changed_at) values (p_gate, p_now)
    on conflict (gate) do update set changed_at = excluded.changed_at
$$;
