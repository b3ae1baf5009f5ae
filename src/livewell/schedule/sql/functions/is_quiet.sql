-- Whether what a run answered says that there was nothing to do: nothing, or an object of nothing but zeros.
-- for: internal
create or replace function livewell_private.is_quiet(p_result jsonb) returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select case
        when p_result is null then true
        when jsonb_typeof(p_result) <> 'object' then p_result in ('null', '0', 'false', '""', '[]')
        else not exists (
            select from jsonb_each(p_result - 'again_in') as f
            where f.value not in ('null', '0', 'false', '""', '[]', '{}')
        )
    end
$$;
