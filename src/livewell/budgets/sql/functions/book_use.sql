-- Books what calls have used into the ledger of this hour, with what they return of their reservations. Takes no lock that a
-- claim waits for, unless a level is passed, which is recorded then.
-- for: internal
create or replace function livewell_private.book_use(
    p_providers text[], p_requests bigint[], p_bytes bigint[], p_tokens bigint[], p_reserved bigint[], p_now timestamptz
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_hour constant timestamptz := date_trunc('hour', p_now, 'UTC');
    v_passed text[];
begin
    with booked as (
        insert into livewell_private.quota_hour as h (provider, hour, bytes, requests, tokens, returned)
        select b.provider, v_hour, sum(b.bytes), sum(b.requests), sum(b.tokens), sum(b.reserved) - sum(b.bytes)
        from unnest(p_providers, p_requests, p_bytes, p_tokens, p_reserved) as b (provider, requests, bytes, tokens, reserved)
        group by b.provider
        order by b.provider
        on conflict (provider, hour) do update
        set bytes = h.bytes + excluded.bytes, requests = h.requests + excluded.requests, tokens = h.tokens + excluded.tokens,
            returned = h.returned + excluded.returned
        returning h.provider, h.bytes
    )
    select array_agg(b.provider) into v_passed
    from booked as b
    join livewell_private.provider as p on p.name = b.provider and p.quota_bytes is not null
    join livewell_private.quota_use as q on q.provider = b.provider
    where q.level <> livewell_private.quota_level(
        b.bytes + case when q.counted_hour = v_hour then q.counted_bytes else coalesce((
            select sum(h.bytes) from livewell_private.quota_hour as h
            where h.provider = b.provider and h.hour >= v_hour - p.quota_window and h.hour < v_hour
        ), 0)::bigint end,
        floor(p.quota_bytes * p.quota_use)::bigint
    );
    if v_passed is not null then
        perform from livewell_private.quota_use as q where q.provider = any (v_passed) order by q.provider for no key update;
        perform livewell_private.draw_on_quotas(livewell_private.quotas_now(v_passed, null, p_now), null, p_now);
    end if;
end $$;
