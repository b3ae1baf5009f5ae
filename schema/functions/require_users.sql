-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_users(p_ids uuid[], p_users text[])
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.require_same_length(cardinality(p_ids), cardinality(p_users));
    if exists (
        select from unnest(p_ids, p_users) as a (id, user_id)
        where a.id is null or coalesce(length(a.user_id), 0) not between 1 and 200
    ) then
        raise exception using errcode = 'LWP02', message = 'a session has no id, or no user of 1 to 200 characters',
            hint = 'nothing was opened';
    end if;
end $function$;
