-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.book_use(p_providers text[], p_requests bigint[], p_bytes bigint[], p_tokens bigint[], p_reserved bigint[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_hour constant timestamptz := date_trunc('hour', p_now, 'UTC');
    v_passed text[];
begin
    with booked as (
        insert into livewell.quota_hour as h (provider, hour, bytes, requests, tokens, returned)
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
    join livewell.provider as p on p.name = b.provider and p.quota_bytes is not null
    join livewell.quota_use as q on q.provider = b.provider
    where q.level <> livewell.quota_level(
        b.bytes + case when q.counted_hour = v_hour then q.counted_bytes else coalesce((
            select sum(h.bytes) from livewell.quota_hour as h
            where h.provider = b.provider and h.hour >= v_hour - p.quota_window and h.hour < v_hour
        ), 0)::bigint end,
        floor(p.quota_bytes * p.quota_use)::bigint
    );
    if v_passed is not null then
        perform from livewell.quota_use as q where q.provider = any (v_passed) order by q.provider for no key update;
        perform livewell.draw_on_quotas(livewell.quotas_now(v_passed, null, p_now), null, p_now);
    end if;
end $function$;
