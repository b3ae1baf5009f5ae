-- Why permits were not granted, and when to ask again: for the reason that is known, else for the limit that has nothing left.
-- for: internal
create or replace function livewell_private.refused_permits(
    p_limits livewell_private.limit_headroom[], p_reason text, p_now timestamptz, out reason text, out retry_seconds double precision
)
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_opens_at timestamptz;
begin
    select max(l.reason) filter (where l.requests = 0 and l.kind <> 'keys'),
        coalesce(max(l.opens_at) filter (where l.kind <> 'keys'), min(l.opens_at) filter (where l.kind = 'keys'))
    into reason, v_opens_at
    from unnest(p_limits) as l;
    reason := coalesce(p_reason, reason, 'requests');
    retry_seconds := case reason
        when 'concurrent' then null
        when 'tokens' then 1
        when 'bytes' then 5
        when 'disabled' then 5
        when 'maintenance' then 5
        else coalesce(case when v_opens_at > p_now then extract(epoch from v_opens_at - p_now) end, 1)
    end;
end $$;
