-- Refuses a batch with something in it that is larger than a setting allows, by its position.
-- for: internal
create or replace function livewell_private.refuse_large_jobs(p_batch jsonb, p_setting text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_most bigint;
    v_large record;
begin
    -- No such setting is less: what nearly every batch is costs one comparison.
    if p_batch is null or pg_column_size(p_batch) <= 65536 then
        return;
    end if;
    v_most := livewell.setting_integer(p_setting);
    select b.at, pg_column_size(b.one) as size into v_large
    from jsonb_array_elements(p_batch) with ordinality as b (one, at)
    where pg_column_size(b.one) > v_most
    limit 1;
    if found then
        raise exception using errcode = 'LWJ07',
            message = format('job %s: %s bytes, of %s allowed', v_large.at, v_large.size, v_most),
            hint = format('keep what is large in a table of your own and name it; or livewell settings set %s', p_setting);
    end if;
end $$;
