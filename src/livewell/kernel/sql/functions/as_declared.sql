-- A row as it would be with some fields set: what is not named stays; what is new begins with its key and the table's defaults.
-- for: internal
create or replace function livewell_private.as_declared(
    p_thing livewell_private.declared_thing, p_old anyelement, p_key jsonb, p_fields jsonb, p_now timestamptz
) returns anyelement
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select jsonb_populate_record(p_old, case
        when p_old is null
            then (p_thing).defaults || jsonb_build_object('created_at', p_now, 'updated_at', p_now) || p_key || p_fields
        else p_fields
    end)
$$;
