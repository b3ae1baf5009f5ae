-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.require_possible_types(p_types livewell.data_type[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    perform livewell.refuse_declared('LWR03', 'type', t.name, livewell.type_problem(t)) from unnest(p_types) as t where livewell.type_problem(t) is not null;
    perform livewell.refuse_declared(
        'LWR03', 'type', t.name, format('%s looks like a secret, and would be kept and shown as it is written', s.field),
        format('take it out; write key_env = "%s_API_KEY" and key_in = "%s" below [provider.%s]',
            upper(regexp_replace(split_part(t.endpoint, '/', 1), '[^A-Za-z0-9]', '_', 'g')), s.key_in, split_part(t.endpoint, '/', 1))
    )
    from unnest(p_types) as t
    cross join lateral livewell.secrets_in_fetch(t.fetch_call) as s
    where not exists (select from livewell.data_type as o where o.name = t.name and o.fetch_call = t.fetch_call);
    perform livewell.refuse_declared('LWR03', 'type', t.name, e.message, e.fix)
    from unnest(p_types) as t cross join lateral livewell.endpoint_finding(t.endpoint) as e;
end $function$;
