-- Everything that is wrong with a type as it is, or as it would be: errors, with which it cannot be live, and warnings.
-- for: internal
create or replace function livewell_private.findings_on_type(p_type livewell_private.data_type, p_now timestamptz)
returns table (severity text, problem text, message text, fix text)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_wrong boolean;
begin
    -- A name that is none is quoted nowhere.
    if livewell_private.type_problem(p_type) is not null then
        return query select 'error', 'invalid', livewell_private.type_problem(p_type), 'livewell.toml, or livewell types set';
        return;
    end if;
    return query
    select 'warning', 'endpoint_closed', format('%s %s is %s', s.thing, s.name, s.state), format('livewell %s set %s state=active', s.thing, s.name)
    from livewell.endpoints as e
    join livewell.providers as p on p.name = e.provider
    cross join lateral (values ('endpoint', e.name, e.state), ('provider', p.name, p.state)) as s (thing, name, state)
    where e.name = p_type.endpoint and s.state <> 'active';
    return query select f.* from livewell_private.findings_on_cron(p_type, p_now) as f;
    return query select f.* from livewell_private.findings_on_fetch(p_type) as f;
    return query select f.* from livewell_private.findings_on_reading(p_type) as f;
    return query
    select f.* from livewell_private.findings_on_table(p_type) as f where p_type.table_name is not null
    union all
    select f.* from livewell_private.findings_on_staleness(p_type, p_now) as f;
    v_wrong := exists (
        select from livewell_private.findings_on_table(p_type) as f where p_type.table_name is not null and f.severity = 'error'
        union all
        select from livewell_private.findings_on_staleness(p_type, p_now) as f where f.severity = 'error'
    );
    if not v_wrong then
        return query select f.* from livewell_private.findings_on_rows(p_type, p_now) as f;
    end if;
    return query select f.* from livewell_private.findings_on_gate(p_type, p_now) as f;
    return query select f.* from livewell_private.findings_on_catalogue(p_type) as f where p_type.keys_table is not null;
end $$;
