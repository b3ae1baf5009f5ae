-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.watched_are_due()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if tg_table_name = 'data_type' then
        perform livewell.due_now(array[new.name], new.updated_at);
    else
        perform livewell.due_now(array(select t.name from livewell.data_type as t where t.gate = new.gate), new.changed_at);
    end if;
    return null;
end $function$;
