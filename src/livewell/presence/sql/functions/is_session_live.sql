-- Whether a session is open and was renewed in time, by itself or its gateway.
-- for: internal
create or replace function livewell_private.is_session_live(p_session uuid, p_now timestamptz) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp as $$
    select exists (
        select from livewell_private.session as s left join livewell_private.gateway as g on g.name = s.gateway
        where s.id = p_session
            and coalesce(g.last_seen + g.gone_after, s.last_seen + livewell.setting_interval('presence.gone_after')) > p_now
    )
$$;
