-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.askers_of(p_users text[])
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select array(
        select case when livewell.is_anonymous(u.user_id) then 'anon:' else u.user_id end
        from unnest(p_users) with ordinality as u (user_id, at) order by u.at
    )
$function$;
