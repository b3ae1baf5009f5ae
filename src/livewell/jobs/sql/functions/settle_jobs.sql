-- Settles what finished attempts spent, and learns from what their answers said of limits. All that is decided here about
-- several endpoints is locked first, in the one order.
-- for: internal
create or replace function livewell_private.settle_jobs(
    p_spent livewell_private.spent_call[], p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from unnest(p_spent) as s where s.rate is not null) then
        perform livewell_private.lock_budgets(array(select distinct s.endpoint from unnest(p_spent) as s));
        perform livewell.learn_limits(
            s.endpoint, s.api_key, s.rate, coalesce((s.rate ->> 'age_seconds')::double precision, 0), p_now
        )
        from unnest(p_spent) as s where s.rate is not null;
    end if;
    perform livewell_private.settle_calls(p_spent, p_now);
end $$;
