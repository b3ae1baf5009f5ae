-- Lets the estimates learn from some of the calls: a moving average and its spread, the first sample whole. Counts those that
-- were more than twice what was expected.
-- for: internal
create or replace function livewell_private.learn_sizes(p_calls livewell_private.spent_call[], p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_share constant double precision := livewell.setting_number('quota.sample_share');
begin
    insert into livewell_private.estimate as e (
        endpoint, subject, samples, bytes_mean, tokens_mean, over_twice, over_twice_at, updated_at
    )
    select s.endpoint, s.subject, s.samples, s.bytes, s.tokens, s.over_twice, case when s.over_twice > 0 then p_now end, p_now
    from (
        select c.endpoint, c.subject, sum((c.sampled)::integer) as samples, avg(c.bytes) filter (where c.sampled) as bytes,
            avg(c.tokens) filter (where c.sampled) as tokens,
            count(*) filter (where c.bytes > 2 * c.bytes_mean or c.tokens > 2 * c.tokens_mean) as over_twice
        from (
            select c.endpoint, c.subject, c.bytes, c.tokens, k.bytes_mean, k.tokens_mean, k.endpoint is null or random() < v_share
                or (k.bytes_mean is null and c.bytes is not null) or (k.tokens_mean is null and c.tokens is not null) as sampled
            from unnest(p_calls) as c
            left join livewell_private.estimate as k on k.endpoint = c.endpoint and k.subject = c.subject
            where c.outcome = 'completed' and (c.bytes is not null or c.tokens is not null)
        ) as c
        group by c.endpoint, c.subject
    ) as s
    where s.samples > 0 or s.over_twice > 0
    order by s.endpoint, s.subject
    on conflict (endpoint, subject) do update
    set samples = e.samples + excluded.samples,
        bytes_spread = case when excluded.bytes_mean is null or e.bytes_mean is null then e.bytes_spread
            else 0.9 * e.bytes_spread + 0.1 * abs(excluded.bytes_mean - e.bytes_mean) end,
        bytes_mean = coalesce(0.9 * e.bytes_mean + 0.1 * excluded.bytes_mean, e.bytes_mean, excluded.bytes_mean),
        tokens_spread = case when excluded.tokens_mean is null or e.tokens_mean is null then e.tokens_spread
            else 0.9 * e.tokens_spread + 0.1 * abs(excluded.tokens_mean - e.tokens_mean) end,
        tokens_mean = coalesce(0.9 * e.tokens_mean + 0.1 * excluded.tokens_mean, e.tokens_mean, excluded.tokens_mean),
        over_twice = e.over_twice + excluded.over_twice, over_twice_at = coalesce(excluded.over_twice_at, e.over_twice_at),
        updated_at = p_now;
end $$;
