-- Records what was done to an endpoint by hand.
-- for: internal
create or replace function livewell_private.audit_endpoint(
    p_event text, p_name text, p_old jsonb, p_new jsonb, p_reason text, p_actor text, p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell.audit_write(jsonb_build_array(jsonb_build_object(
        'event', p_event, 'table_name', 'endpoint', 'record_id', p_name, 'operation', 'update', 'old', p_old, 'new', p_new,
        'reason', p_reason, 'actor', p_actor
    )), p_now);
end $$;
