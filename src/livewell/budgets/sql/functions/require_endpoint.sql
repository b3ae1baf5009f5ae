-- Refuses an endpoint that nobody declared: work without a budget would be work without a limit.
-- for: internal
create or replace function livewell_private.require_endpoint(p_endpoint text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_near text;
    v_said constant text := left(p_endpoint, 201);
begin
    if exists (select from livewell_private.endpoint as e where e.name = p_endpoint) then
        return;
    end if;
    select e.name into v_near from livewell_private.endpoint as e
    where e.provider = split_part(p_endpoint, '/', 1) or e.name ilike '%' || nullif(split_part(p_endpoint, '/', 2), '') || '%'
    order by e.name limit 1;
    raise exception using errcode = 'LWB01', message = format('unknown endpoint %s', coalesce(v_said, '(none)')),
        hint = coalesce(format('did you mean %s? ', v_near), '') || format(
            'declare it in livewell.toml: [provider.%s.endpoint.%s] requests = { per_minute = 60 }',
            coalesce(nullif(split_part(v_said, '/', 1), ''), 'NAME'),
            regexp_replace(coalesce(nullif(substr(v_said, strpos(v_said, '/') + 1), ''), 'NAME'), '^.*[^A-Za-z0-9_-].*$', '"\&"')
        );
end $$;
