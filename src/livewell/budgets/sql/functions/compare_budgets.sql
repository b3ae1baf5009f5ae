-- What is new, what is changed and what is the same, as JSON: each thing with what it was and what it would be.
-- for: internal
create or replace function livewell_private.compare_budgets(
    p_providers livewell_private.provider[], p_endpoints livewell_private.endpoint[], p_keys livewell_private.api_key[]
) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp as $$
    with old as (
        select r.thing, r.name, r.content from livewell_private.budget_rows(
            array(select t from livewell_private.provider as t where t.name in (select n.name from unnest(p_providers) as n)),
            array(select t from livewell_private.endpoint as t where t.name in (select n.name from unnest(p_endpoints) as n)),
            array(
                select t from livewell_private.api_key as t
                where (t.provider, t.name) in (select n.provider, n.name from unnest(p_keys) as n)
            )
        ) as r
    )
    select coalesce(jsonb_agg(jsonb_build_object(
        'rank', n.rank, 'thing', n.thing, 'name', n.name, 'old', o.content, 'new', n.content, 'change', case
            when o.content is null then 'add'
            when exists (
                select from jsonb_each(n.content) as f
                where not livewell_private.same_budget_value(f.key, o.content -> f.key, f.value)
            ) then 'change'
            else 'same'
        end
    ) order by n.rank, n.name), '[]')
    from livewell_private.budget_rows(p_providers, p_endpoints, p_keys) as n
    left join old as o on o.thing = n.thing and o.name = n.name
$$;
