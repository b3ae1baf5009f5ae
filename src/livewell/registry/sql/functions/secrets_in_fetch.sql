-- The headers and parameters of a declared fetch that look like secrets, with how the provider's key would travel there instead;
-- never what they hold.
-- for: internal
create or replace function livewell_private.secrets_in_fetch(p_fetch jsonb) returns table (field text, key_in text)
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select format('fetch.%s.%s', p.place, v.key), case when lower(v.key) = 'authorization' then 'bearer' else p.travels || v.key end
    from (values ('headers', 'header:'), ('query', 'query:')) as p (place, travels)
    cross join lateral jsonb_each_text(case jsonb_typeof(p_fetch -> p.place) when 'object' then p_fetch -> p.place else '{}' end) as v
    where livewell_private.looks_secret(v.key, v.value)
    order by 1
$$;
