-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.register_worker(p_worker text, p_groups text[], p_kinds text[], p_slots integer, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.require_primary();
    if length(p_worker) not between 1 and 200 then
        raise exception using errcode = 'LWJ03', message = 'the name of a worker has 1 to 200 characters';
    end if;
    insert into livewell.worker (id, queue_groups, kinds, slots, started_at, last_seen)
    values (p_worker, p_groups, p_kinds, p_slots, p_now, p_now)
    on conflict (id) do update set
        queue_groups = excluded.queue_groups, kinds = excluded.kinds, slots = excluded.slots, last_seen = excluded.last_seen;
end $function$;

grant execute on function livewell.register_worker(text,text[],text[],integer,timestamp with time zone) to livewell_service;
