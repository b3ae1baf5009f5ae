-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.give_up_gateway(p_gateway text, p_since timestamp with time zone, p_most integer)
 RETURNS uuid[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET jit TO 'off'
AS $function$
begin
    perform from livewell.gateway as g where g.name = p_gateway and g.last_seen <= p_since for no key update skip locked;
    if not found then
        return array[]::uuid[];
    end if;
    update livewell.gateway as g set last_seen = '-infinity' where g.name = p_gateway and g.last_seen > '-infinity';
    return array(select s.id from livewell.session as s where s.gateway = p_gateway limit p_most for update skip locked);
end $function$;
