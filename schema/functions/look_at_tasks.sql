-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.look_at_tasks(p_handlers text[] DEFAULT '{}'::text[], p_limit integer DEFAULT 100, p_now timestamp with time zone DEFAULT clock_timestamp())
 RETURNS TABLE(name text, run text, next_in_seconds double precision)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
    perform livewell.require_primary();
    if livewell.setting_boolean('maintenance.enabled') then
        return query select null::text, null::text, null::double precision;
        return;
    end if;
    return query
    select t.name, t.run, 0::double precision
    from livewell.task as t
    where t.enabled and t.due_at <= p_now and (t.lease_token is null or t.lease_until <= p_now)
        and (t.run is not null or t.name = any (p_handlers))
    order by t.due_at
    limit p_limit;
    return query
    select null::text, null::text, extract(epoch from least(
        (
            select t.due_at from livewell.task as t
            where t.enabled and t.due_at > p_now and (t.run is not null or t.name = any (p_handlers))
            order by t.due_at limit 1
        ),
        (
            select min(least(t.lease_until, p_now + coalesce(t.every, interval '1 minute')))
            from livewell.task as t
            where t.enabled and t.due_at <= p_now and t.lease_until > p_now
                and (t.run is not null or t.name = any (p_handlers))
        )
    ) - p_now)::double precision;
end $function$;

grant execute on function livewell.look_at_tasks(text[],integer,timestamp with time zone) to livewell_service;
