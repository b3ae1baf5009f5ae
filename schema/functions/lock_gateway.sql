-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.lock_gateway(p_gateway text, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_last_seen timestamptz;
begin
    if p_gateway !~ '^[^\s]{1,200}$' then
        raise exception using errcode = 'LWP02', message = 'the name of a gateway has 1 to 200 characters and no space';
    end if;
    loop
        select g.last_seen into v_last_seen from livewell.gateway as g where g.name = p_gateway for key share;
        exit when found;
        insert into livewell.gateway (name, last_seen) values (p_gateway, p_now) on conflict (name) do nothing;
    end loop;
    if v_last_seen <= p_now - livewell.setting_interval('presence.gone_after') then
        raise exception using errcode = 'LWP03', message = format('gateway %s was not renewed in time and is gone', p_gateway),
            hint = 'open its sessions again under a new name, or after close_gateway has answered 0';
    end if;
end $function$;
