-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.sweep_gateway(p_gateway text, p_since timestamp with time zone, p_most integer, p_now timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
declare
    v_swept integer;
begin
    update livewell.gateway as g set last_seen = '-infinity' where g.name = p_gateway and g.last_seen <= p_since;
    if not found then
        return 0;
    end if;
    v_swept := livewell.drop_sessions(array(
        select s.id from livewell.session as s where s.gateway = p_gateway limit p_most for update skip locked
    ), p_now);
    -- Who is opening a session there holds the gateway's row.
    perform from livewell.gateway as g where g.name = p_gateway for update skip locked;
    if found then
        delete from livewell.gateway as g
        where g.name = p_gateway and not exists (select from livewell.session as s where s.gateway = p_gateway);
    end if;
    return v_swept;
end $function$;
