-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.is_session_live(p_session uuid, p_now timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select exists (
        select from livewell.session as s left join livewell.gateway as g on g.name = s.gateway
        where s.id = p_session
            and coalesce(g.last_seen, s.last_seen) > p_now - livewell.setting_interval('presence.gone_after')
    )
$function$;
