-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.are_among(p_ids uuid[], p_among uuid[])
 RETURNS boolean[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_nestloop TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
    return array(
        select o.id is not null from unnest(p_ids) with ordinality as a (id, position)
        left join (select distinct o.id from unnest(p_among) as o (id)) as o on o.id = a.id
        order by a.position
    );
end $function$;
