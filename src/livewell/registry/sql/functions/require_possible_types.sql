-- Refuses types that can be written in no case: by their own fields, by an endpoint that is not there, or because a secret would
-- be written down with how they are fetched. What was written before stays until that changes.
-- for: internal
create or replace function livewell_private.require_possible_types(p_types livewell_private.data_type[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform livewell_private.refuse_declared('LWR03', 'type', t.name, livewell_private.type_problem(t)) from unnest(p_types) as t where livewell_private.type_problem(t) is not null;
    perform livewell_private.refuse_declared(
        'LWR03', 'type', t.name, format('%s looks like a secret, and would be kept and shown as it is written', s.field),
        format('take it out; write key_env = "%s_API_KEY" and key_in = "%s" below [provider.%s]',
            upper(regexp_replace(split_part(t.endpoint, '/', 1), '[^A-Za-z0-9]', '_', 'g')), s.key_in, split_part(t.endpoint, '/', 1))
    )
    from unnest(p_types) as t
    cross join lateral livewell_private.secrets_in_fetch(t.fetch_call) as s
    where not exists (select from livewell_private.data_type as o where o.name = t.name and o.fetch_call = t.fetch_call);
    perform livewell_private.refuse_declared('LWR03', 'type', t.name, e.message, e.fix)
    from unnest(p_types) as t cross join lateral livewell_private.endpoint_finding(t.endpoint) as e;
end $$;
