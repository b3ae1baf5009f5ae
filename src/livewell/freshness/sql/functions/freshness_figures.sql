-- What viewers saw since a time, by type and audience (all viewers; those who were alone with an item), and over all types
-- together, where the type is null. Shares are of viewer-minutes; waits and ages in minutes.
-- for: service
create or replace function livewell.freshness_figures(
    p_since timestamptz default null, p_now timestamptz default clock_timestamp()
) returns table (
    data_type text, audience text, viewer_minutes double precision, within_ttl double precision, fresh double precision,
    ok double precision, w50 double precision, w99 double precision, overdue50 double precision, overdue99 double precision,
    fetches bigint, unchanged double precision, samples bigint, samples_fresh double precision, samples_fresh_error double precision,
    samples_ok double precision, samples_ok_error double precision
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_since constant timestamptz := date_trunc('hour', coalesce(p_since, p_now - interval '24 hours'), 'UTC');
begin
    return query
    select
        s.data_type, s.audience, s.viewer_minutes, s.within_ttl / m.minutes, s.fresh / m.minutes, s.ok / m.minutes,
        livewell.wait_quantile(w.waits, 0.5), livewell.wait_quantile(w.waits, 0.99), livewell.wait_quantile(w.overdue, 0.5),
        livewell.wait_quantile(w.overdue, 0.99), s.fetches, 1 - s.changes / nullif(s.fetches, 0)::double precision, s.samples,
        p.fresh, sqrt(p.fresh * (1 - p.fresh) / s.samples), p.ok, sqrt(p.ok * (1 - p.ok) / s.samples)
    from (
        select
            h.data_type, h.audience, sum(h.viewer_minutes) as viewer_minutes, sum(h.within_ttl) as within_ttl, sum(h.fresh) as fresh,
            sum(h.ok) as ok, sum(h.fetches)::bigint as fetches, sum(h.changes)::bigint as changes, sum(h.samples)::bigint as samples,
            sum(h.samples_fresh)::bigint as samples_fresh, sum(h.samples_ok)::bigint as samples_ok
        from livewell_private.freshness_hour as h
        where h.hour >= v_since and h.hour <= p_now
        group by grouping sets ((h.data_type, h.audience), (h.audience))
    ) as s
    cross join lateral (
        select nullif(s.viewer_minutes, 0) as minutes
    ) as m
    cross join lateral (
        select s.samples_fresh / nullif(s.samples, 0)::double precision as fresh, s.samples_ok / nullif(s.samples, 0)::double precision as ok
    ) as p
    cross join lateral (
        select array_agg(t.waits order by t.step) as waits, array_agg(t.overdue order by t.step) as overdue
        from (
            select n.step, sum(coalesce(h.waits[n.step], 0)) as waits, sum(coalesce(h.overdue[n.step], 0)) as overdue
            from livewell_private.freshness_hour as h
            cross join generate_subscripts(livewell_private.wait_steps(), 1) as n (step)
            where h.hour >= v_since and h.hour <= p_now and h.audience = s.audience
                and (s.data_type is null or h.data_type = s.data_type)
            group by n.step
        ) as t
    ) as w
    order by s.audience, s.data_type nulls last;
end $$;
