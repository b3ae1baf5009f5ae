-- What keeps refreshes of a type from being sent now, in words, and until when if that is known: maintenance, a kind that is paused,
-- no worker that would run them, or what holds their endpoint. The holder is the provider, our own budget, or others. No row when nothing
-- does.
-- for: service
create or replace function livewell.refresh_obstacle(p_type text, p_endpoint text, p_now timestamptz default clock_timestamp())
returns table (reason text, until timestamptz, holder text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
begin
    if livewell.setting_boolean('maintenance.enabled') then
        return query select 'maintenance: workers claim nothing', null::timestamptz, 'others';
        return;
    end if;
    return query
    select format('jobs of %s are paused: %s', k.kind, coalesce(k.paused_reason, 'no reason given')), nullif(k.paused_until, 'infinity'), 'others'
    from livewell_private.job_kind as k where k.kind = 'refresh.' || p_type and k.paused_until > p_now;
    if not found then
        return query select h.reason, h.until, h.holder from livewell.why_endpoint_waits(p_endpoint, p_now) as h;
    end if;
    if not found and not exists (select from livewell_private.worker as w where 'refresh.' || p_type = any (w.kinds)) then
        return query select format('no worker runs refreshes of %s', p_type), null::timestamptz, 'others';
    end if;
end $$;
