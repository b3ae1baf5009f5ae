-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.refresh_ended()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
    update livewell.item as i
    set due_at = new.finished_at + greatest(interval '10 seconds', least(t.ttl, interval '5 minutes')),
        last_outcome = new.state, last_outcome_at = new.finished_at
    from livewell.data_type as t
    where i.id = (new.payload ->> 'item')::bigint and t.name = i.data_type;
    return null;
end $function$;
