-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_same_length(VARIADIC p_lengths integer[])
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if p_lengths[1] is null or p_lengths <> array_fill(p_lengths[1], array[cardinality(p_lengths)]) then
        raise exception using errcode = 'LWP02', message = 'the arrays of a batch are not of one length',
            hint = 'what belongs together has the same position';
    end if;
end $function$;
