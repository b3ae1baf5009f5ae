-- What is wrong with the staleness function of a type, asked of the function itself: no TTL by default, and an answer for what
-- was never fetched and for what has just been.
-- for: internal
create or replace function livewell_private.findings_on_staleness(p_type livewell_private.data_type, p_now timestamptz)
returns table (severity text, problem text, message text, fix text)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_own constant boolean := p_type.staleness = 'livewell.is_stale';
    v_said jsonb;
begin
    if not v_own then
        return query select f.* from livewell_private.findings_on_function(
            p_type.staleness, 'timestamp with time zone, interval, timestamp with time zone', 'boolean'
        ) as f;
        if found then
            return;
        end if;
    end if;
    return query
    select 'error', 'ttl_default', format('%s has a default for its TTL', p_type.staleness),
        'take it out: the TTL is the registry''s, and forgetting it must be an error'
    from pg_catalog.pg_proc as p join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
    where n.nspname = split_part(p_type.staleness, '.', 1) and p.proname = split_part(p_type.staleness, '.', 2)
        and p.pronargdefaults >= 2;
    perform livewell_private.require_foreign('ask_foreign');
    v_said := case when v_own then jsonb_build_array(
        livewell.is_stale(null, p_type.ttl, p_now), livewell.is_stale(p_now, p_type.ttl, p_now)
    ) else livewell_private.ask_foreign(format(
        'select jsonb_build_array(%1$I.%2$I(null, a.ttl, a.now), %1$I.%2$I(a.now, a.ttl, a.now))'
        ' from (select ($1 ->> ''ttl'')::interval as ttl, ($1 ->> ''now'')::timestamptz as now) as a',
        split_part(p_type.staleness, '.', 1), split_part(p_type.staleness, '.', 2)
    ), jsonb_build_object('ttl', p_type.ttl, 'now', p_now)) end;
    if (v_said ->> 0)::boolean is false then
        return query select 'error', 'missing_is_fresh', format('%s says that what was never fetched is fresh', p_type.staleness),
            'answer true when the time is null';
    end if;
    if (v_said ->> 1)::boolean is not false then
        return query select 'warning', 'never_fresh', format('%s says that what was fetched this moment is stale', p_type.staleness),
            'it would be refreshed without end; null counts as stale';
    end if;
exception
    when others then
        return query select 'error', 'function_fails', format('%s fails: %s', p_type.staleness, sqlerrm),
            case when sqlstate = '42501' then format('it runs with the rights of livewell_reader: alter function %s security definer', p_type.staleness)
                else 'mend the function' end;
end $$;
