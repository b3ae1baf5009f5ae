-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.book_use(p_providers text[], p_requests bigint[], p_bytes bigint[], p_tokens bigint[], p_reserved bigint[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
    v_passed text[];
begin
    insert into livewell.quota_hour as h (provider, hour, bytes, requests, tokens, returned)
    select b.provider, date_trunc('hour', p_now, 'UTC'), b.bytes, b.requests, b.tokens, b.reserved - b.bytes
    from unnest(p_providers, p_requests, p_bytes, p_tokens, p_reserved) as b (provider, requests, bytes, tokens, reserved)
    order by b.provider
    on conflict (provider, hour) do update
    set bytes = h.bytes + excluded.bytes, requests = h.requests + excluded.requests, tokens = h.tokens + excluded.tokens,
        returned = h.returned + excluded.returned;
    v_passed := array(
        select r.provider from livewell.quota_rooms(p_providers, null, p_now) as r
        join livewell.quota_use as q on q.provider = r.provider
        where q.level <> livewell.quota_level(r.used, r.allowed)
    );
    if v_passed <> '{}' then
        perform from livewell.quota_use as q where q.provider = any (v_passed) order by q.provider for no key update;
        perform livewell.draw_on_quotas(v_passed, array_fill(0::bigint, array[cardinality(v_passed)]), p_now);
    end if;
end $function$;
