-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.book_use(p_providers text[], p_requests bigint[], p_bytes bigint[], p_tokens bigint[], p_reserved bigint[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
    v_limited text[];
begin
    v_limited := array(
        select q.provider from livewell.quota_use as q join livewell.provider as p on p.name = q.provider
        where q.provider = any (p_providers) and p.quota_bytes is not null
        order by q.provider
        for no key update of q
    );
    insert into livewell.quota_hour as h (provider, hour, bytes, requests, tokens)
    select b.provider, date_trunc('hour', p_now, 'UTC'), b.bytes, b.requests, b.tokens
    from unnest(p_providers, p_requests, p_bytes, p_tokens) as b (provider, requests, bytes, tokens)
    order by b.provider
    on conflict (provider, hour) do update
    set bytes = h.bytes + excluded.bytes, requests = h.requests + excluded.requests, tokens = h.tokens + excluded.tokens;
    if v_limited <> '{}' then
        perform livewell.draw_on_quotas(array_agg(b.provider), array_agg(b.bytes - b.reserved), p_now)
        from unnest(p_providers, p_bytes, p_reserved) as b (provider, bytes, reserved)
        where b.provider = any (v_limited);
    end if;
end $function$;
