-- Adds what samples found to the figures of this hour, and forgets samples that nobody answered for an hour.
-- for: internal
create or replace function livewell_private.fold_samples(p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    with taken as (
        delete from livewell_private.sample_result as r returning r.data_type, r.fresh, r.ok
    )
    insert into livewell_private.freshness_hour as h (hour, data_type, audience, samples, samples_fresh, samples_ok)
    select date_trunc('hour', p_now, 'UTC'), t.data_type, 'all', count(*), count(*) filter (where t.fresh), count(*) filter (where t.ok)
    from taken as t
    where exists (select from livewell_private.known_types as d where d.name = t.data_type)
    group by t.data_type
    on conflict (hour, data_type, audience) do update
    set samples = h.samples + excluded.samples, samples_fresh = h.samples_fresh + excluded.samples_fresh,
        samples_ok = h.samples_ok + excluded.samples_ok;
    delete from livewell_private.sample as p where p.drawn_at < p_now - interval '1 hour';
end $$;
