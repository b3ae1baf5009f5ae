-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.stalled_serial_keys(p_serial_keys text[])
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
    -- Key by key and in this order, the cheap looks first; plain conditions may be planned as joins with all that is ready.
    return (
        select array_agg(distinct w.serial_key) from unnest(p_serial_keys) as w (serial_key)
        where case
            when (
                select true from livewell.job_live as r where r.serial_key = w.serial_key and r.state = 'processing' limit 1
            ) then false
            when (
                select true from livewell.job_live as r
                where r.serial_key = w.serial_key and r.state = 'pending' and r.held is null
                order by r.serial_key, r.priority desc, r.due_at, r.id
                limit 1
            ) then false
            else (
                select true from livewell.job_live as r
                where r.serial_key = w.serial_key and r.state = 'pending' and r.held = 'serial'
                order by r.serial_key, r.priority desc, r.due_at, r.id
                limit 1
            )
        end
    );
end $function$;
