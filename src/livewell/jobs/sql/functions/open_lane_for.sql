-- The lane of a kind and endpoint, opened on first use; the endpoint must be known.
-- for: internal
create or replace function livewell_private.open_lane_for(p_kind text, p_endpoint text) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if p_endpoint is not null then
        perform livewell_private.require_endpoint(p_endpoint);
    end if;
    insert into livewell_private.job_lane (kind, endpoint) values (p_kind, p_endpoint) on conflict do nothing;
    return (
        select l.id from livewell_private.job_lane as l where l.kind = p_kind and l.endpoint is not distinct from p_endpoint
    );
end $$;
