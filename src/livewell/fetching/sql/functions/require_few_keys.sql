-- Refuses a list of keys that is none, or longer than one call may read.
-- for: internal
create or replace function livewell_private.require_few_keys(p_keys text[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
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
end $$;
