-- That the endpoint of a type is none, as a finding; no row when it is one.
-- for: internal
create or replace function livewell_private.endpoint_finding(p_endpoint text)
returns table (severity text, problem text, message text, fix text)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.require_endpoint(p_endpoint);
exception
    when sqlstate 'LWB01' then
        get stacked diagnostics message = message_text, fix = pg_exception_hint;
        severity := 'error';
        problem := 'no_endpoint';
        return next;
end $$;
