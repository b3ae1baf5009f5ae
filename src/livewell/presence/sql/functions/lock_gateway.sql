-- Makes a gateway where it is new, and keeps it from being removed until the transaction ends. One that was not renewed in
-- time is refused: its sessions are being undone, and must not come back by halves.
-- for: internal
create or replace function livewell_private.lock_gateway(p_gateway text, p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_gone_at timestamptz;
begin
    if p_gateway !~ '^[^\s]{1,200}$' then
        raise exception using errcode = 'LWP02', message = 'the name of a gateway has 1 to 200 characters and no space';
    end if;
    loop
        select g.last_seen + g.gone_after into v_gone_at from livewell_private.gateway as g where g.name = p_gateway for key share;
        exit when found;
        insert into livewell_private.gateway (name, last_seen, gone_after)
        values (p_gateway, p_now, livewell_private.gateway_gone_after(p_gateway)) on conflict (name) do nothing;
    end loop;
    if v_gone_at <= p_now then
        raise exception using errcode = 'LWP03', message = format('gateway %s was not renewed in time and is gone', p_gateway),
            hint = 'open its sessions again under a new name, or after close_gateway has answered 0';
    end if;
end $$;
