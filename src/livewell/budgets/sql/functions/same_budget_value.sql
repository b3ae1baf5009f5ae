-- Whether two values of a field are the same; lengths of time are compared as such, however they are written.
-- for: internal
create or replace function livewell_private.same_budget_value(p_field text, p_old jsonb, p_new jsonb) returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select case
        when p_field in (
            'quota_window', 'pace_bucket', 'send_within', 'backpressure_delay', 'retry_after', 'retry_after_max',
            'breaker_window', 'breaker_cooldown', 'breaker_cooldown_max', 'call_timeout'
        ) then (p_old #>> '{}')::interval is not distinct from (p_new #>> '{}')::interval
        else p_old is not distinct from p_new
    end
$$;
