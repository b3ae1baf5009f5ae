-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_few_keys(p_keys text[])
 RETURNS void
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_most constant bigint := livewell.setting_integer('fetching.keys_per_read');
begin
    if p_keys is null then
        raise exception using errcode = 'LWN04', message = 'the keys to read are missing', hint = 'a list: array[''AAPL'', ''MSFT'']';
    end if;
    if cardinality(p_keys) > v_most then
        raise exception using errcode = 'LWN04', message = format('no more than %s keys are read at once, not %s', v_most, cardinality(p_keys)),
            hint = 'read them in parts, or set fetching.keys_per_read';
    end if;
end $function$;
