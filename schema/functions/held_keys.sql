-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.held_keys(p_storing livewell.storing, p_keys text[])
 RETURNS text[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '250ms'
AS $function$
declare
    v_key livewell.stored_column;
begin
    select k.* into v_key from unnest(p_storing.columns) as k where k.name = (p_storing.type).key_column;
    perform livewell.require_foreign('held_foreign_keys');
    return livewell.held_foreign_keys(
        format('select array_agg(l.ctid) from (%s skip locked) as l', livewell.locking_query(p_storing)),
        format(
            'select array_agg(distinct t.%3$I::text) from %1$I.%2$I as t where t.%3$I = any ($1::%4$s[]) and t.ctid <> all ($2)',
            split_part((p_storing.type).table_name, '.', 1), split_part((p_storing.type).table_name, '.', 2), v_key.name, v_key.type
        ),
        p_keys
    );
exception when lock_not_available then
    return p_keys;
end $function$;
