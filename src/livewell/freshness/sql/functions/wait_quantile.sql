-- The time, in minutes, that this share of a histogram of waits does not exceed: the step where it is reached. Null of nothing.
-- for: service
create or replace function livewell.wait_quantile(p_weights double precision[], p_share double precision)
returns double precision
language plpgsql immutable security definer
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select (livewell_private.wait_steps()) [s.at]
        from (
            select w.at, sum(w.weight) over (order by w.at) as reached, sum(w.weight) over () as whole
            from unnest(p_weights) with ordinality as w (weight, at)
        ) as s
        where s.whole > 0 and s.reached >= p_share * s.whole
        order by s.at
        limit 1
    );
end $$;
