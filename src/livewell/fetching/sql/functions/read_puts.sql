-- Reads a batch of puts of a type, numbered in their order. Refuses the whole of it when one says too little: that is a mistake of the
-- caller, not of a row.
-- for: internal
create or replace function livewell_private.read_puts(p_type text, p_puts jsonb) returns livewell_private.ended_fetch[]
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_puts livewell_private.ended_fetch[];
    v_bad bigint;
begin
    if jsonb_typeof(p_puts) is distinct from 'array' then
        raise exception using errcode = 'LWN06', message = 'what is put must be a JSON array of objects';
    end if;
    select min(p.at) into v_bad from jsonb_array_elements(p_puts) with ordinality as p (put, at)
    where (jsonb_typeof(p.put) = 'object' and jsonb_typeof(p.put -> 'rows') = 'array') is not true;
    if v_bad is not null then
        raise exception using errcode = 'LWN06', message = format('put %s says too little or cannot be so', v_bad),
            hint = 'each has a key and a list of rows';
    end if;
    select array_agg(jsonb_populate_record(null::livewell_private.ended_fetch, p.put || jsonb_build_object(
        'job', p.at, 'item', null, 'type', p_type, 'outcome', 'fetched', 'etag', null, 'last_modified', null, 'sent', null
    )) order by p.at)
    into v_puts
    from jsonb_array_elements(p_puts) with ordinality as p (put, at);
    return coalesce(v_puts, '{}');
end $$;
