-- Whether items that were fetched ahead had a viewer before they were old: a hit, or a miss once their TTL has passed. One that
-- was looked at before its fetch, or was never fetched, says nothing.
-- for: internal
create or replace function livewell_private.judge_prefetches(p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    with judged as (
        select f.item_id, f.provider, case
            when i.averaged_at > f.asked_at and (i.fetched_at is null or i.fetched_at <= f.asked_at or i.averaged_at < i.fetched_at) then 'void'
            when i.averaged_at > f.asked_at then 'hit'
            when i.fetched_at > f.asked_at and i.fetched_at + t.ttl <= p_now then 'miss'
            when f.asked_at + t.ttl + interval '1 hour' <= p_now then 'void'
        end as verdict
        from livewell_private.prefetch as f
        join livewell_private.item as i on i.id = f.item_id
        join livewell_private.known_types as t on t.name = i.data_type
    ),
    gone as (
        delete from livewell_private.prefetch as f using judged as j where f.item_id = j.item_id and j.verdict is not null
    )
    insert into livewell_private.prefetch_state as s (provider, judged, hits)
    select j.provider, count(*), count(*) filter (where j.verdict = 'hit')
    from judged as j where j.verdict in ('hit', 'miss')
    group by j.provider
    order by j.provider
    on conflict (provider) do update
    set judged = s.judged * power(0.99::double precision, excluded.judged) + excluded.judged,
        hits = s.hits * power(0.99::double precision, excluded.judged) + excluded.hits;
end $$;
