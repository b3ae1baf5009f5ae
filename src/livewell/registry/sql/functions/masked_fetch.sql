-- What a type is, for the audit log, which keeps what it is given: that headers and parameters are sent is there, what they hold
-- is not.
-- for: internal
create or replace function livewell_private.masked_fetch(p_content jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select case when jsonb_typeof(p_content -> 'fetch_call') = 'object' then jsonb_set(p_content, '{fetch_call}', (
        select jsonb_object_agg(f.key, case
            when f.key in ('headers', 'query') and jsonb_typeof(f.value) = 'object'
                then (select coalesce(jsonb_object_agg(v.key, '•••'), '{}') from jsonb_each(f.value) as v)
            when f.key in ('headers', 'query') then '"•••"'
            else f.value
        end)
        from jsonb_each(p_content -> 'fetch_call') as f
    )) else p_content end
$$;
