-- The due and free tasks a node can run, oldest first, and in how many seconds to look again: nobody polls a closed door.
-- One that another node holds is looked at again after its interval, for that node may have died since.
-- for: service
create or replace function livewell.look_at_tasks(
    p_handlers text[] default '{}', p_limit integer default 100, p_now timestamptz default clock_timestamp()
) returns table (name text, run text, next_in_seconds double precision)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    perform livewell_private.require_primary();
    if livewell.setting_boolean('maintenance.enabled') then
        return query select null::text, null::text, null::double precision;
        return;
    end if;
    return query
    select t.name, t.run, 0::double precision
    from livewell_private.task as t
    where t.enabled and t.due_at <= p_now and (t.lease_token is null or t.lease_until <= p_now)
        and (t.run is not null or t.name = any (p_handlers))
    order by t.due_at
    limit p_limit;
    return query
    select null::text, null::text, extract(epoch from least(
        (
            select t.due_at from livewell_private.task as t
            where t.enabled and t.due_at > p_now and (t.run is not null or t.name = any (p_handlers))
            order by t.due_at limit 1
        ),
        (
            select min(least(t.lease_until, p_now + coalesce(t.every, interval '1 minute')))
            from livewell_private.task as t
            where t.enabled and t.due_at <= p_now and t.lease_until > p_now
                and (t.run is not null or t.name = any (p_handlers))
        )
    ) - p_now)::double precision;
end $$;
