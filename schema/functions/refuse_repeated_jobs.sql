-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.refuse_repeated_jobs(p_ids bigint[])
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if (select count(distinct i.id) from unnest(p_ids) as i (id)) <> cardinality(p_ids) then
        raise exception using errcode = 'LWJ03', message = 'a job is named twice in one finish';
    end if;
end $function$;
