-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.settle_jobs(p_spent livewell.spent_call[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    if exists (select from unnest(p_spent) as s where s.rate is not null) then
        perform livewell.lock_budgets(array(select distinct s.endpoint from unnest(p_spent) as s));
        perform livewell.learn_limits(
            s.endpoint, s.api_key, s.rate, coalesce((s.rate ->> 'age_seconds')::double precision, 0), p_now
        )
        from unnest(p_spent) as s where s.rate is not null;
    end if;
    perform livewell.settle_calls(p_spent, p_now);
end $function$;
