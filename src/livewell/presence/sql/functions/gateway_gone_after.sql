-- How long a gateway lives after it was last seen: those of presence sources as long as a source may be silent, all others much shorter.
-- for: internal
create or replace function livewell_private.gateway_gone_after(p_gateway text) returns interval
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select livewell.setting_interval(case when p_gateway like 'source:%' then 'presence.gone_after' else 'live.gone_after' end)
$$;
