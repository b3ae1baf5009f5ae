-- What is left of a headroom when something is drawn from it; less than nothing when it does not fit.
-- for: internal
create or replace function livewell_private.headroom_after(p_headroom livewell_private.headroom, p_spending livewell_private.spending[])
returns livewell_private.headroom
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
declare
    v_left livewell_private.headroom := p_headroom;
begin
    v_left.limits := (
        select array_agg(h::livewell_private.limit_headroom)
        from (
            select l.name, l.kind, l.provider, l.requests - s.requests as requests, l.tokens - s.tokens as tokens, l.spacing,
                l.starts_trial, l.opens_at, l.reason, l.used_share
            from unnest(p_headroom.limits) as l
            cross join lateral (
                select coalesce(sum(s.requests), 0)::bigint as requests, coalesce(sum(s.tokens), 0)::bigint as tokens
                from unnest(p_spending) as s where l.name in (s.endpoint, s.provider, s.key_limit)
            ) as s
        ) as h
    );
    if p_headroom.quotas is not null then
        v_left.quotas := (
            select array_agg(h::livewell_private.quota_headroom)
            from (
                select q.provider, q.bytes - (
                        select coalesce(sum(s.bytes), 0)::bigint from unnest(p_spending) as s where s.provider = q.provider
                    ) as bytes,
                    q.is_low, q.allowed, q.used, q.in_flight, q.counted, q.bucket, q.returned, q.level
                from unnest(p_headroom.quotas) as q
            ) as h
        );
    end if;
    return v_left;
end $$;
