-- The use of a limit with what an answer says of the limit: less at once, more by a tenth a minute, nothing beyond reason.
-- for: internal
create or replace function livewell_private.learned_from(
    p_use livewell_private.limit_use, p_limits jsonb, p_asked timestamptz, p_now timestamptz
) returns livewell_private.limit_use
language plpgsql stable
set search_path = pg_catalog, pg_temp as $$
declare
    v_use livewell_private.limit_use := p_use;
    v_grows boolean := p_now >= p_use.grown_at + interval '1 minute';
    v_seen record;
begin
    for v_seen in
        select l.unit, l.remaining, least(l.reset_seconds, 3600) as reset_seconds, l.seconds >= 3600 as hourly,
            case
                when l."limit" is null or l."limit" < 1 then null
                when l.seconds >= 3600 then greatest(1, floor(l."limit" * 3600 / l.seconds))
                else greatest(1, least(2000000000, floor(l."limit" * 60 / greatest(l.seconds, 0.001))))
            end as per_window
        from (
            select l.*, coalesce(l.window_seconds, case when l.reset_seconds > 90 then 3600 else 60 end) as seconds
            from jsonb_to_recordset(p_limits) as l (
                unit text, "limit" double precision, window_seconds double precision, remaining double precision,
                reset_seconds double precision
            )
        ) as l
        where l.seconds > 0 and coalesce(l."limit", 0) <= 2000000000 and coalesce(l.remaining, 0) <= 2000000000
    loop
        -- What was sent since is known for a minute; a longer wait is obeyed when nothing is left.
        if v_seen.unit = 'requests' and v_seen.remaining >= 0 and v_seen.reset_seconds between 0.001 and 60 then
            v_use.remaining := v_seen.remaining;
            v_use.remaining_since := floor(extract(epoch from p_asked));
            v_use.remaining_until := p_now + make_interval(secs => v_seen.reset_seconds);
        elsif v_seen.remaining = 0 and v_seen.reset_seconds > 0 then
            v_use.closed_until := greatest(v_use.closed_until, p_now + make_interval(secs => v_seen.reset_seconds));
            v_use.closed_reason := format('no %s remain', v_seen.unit);
            v_use.next_allowed_at := greatest(v_use.next_allowed_at, v_use.closed_until);
        end if;
        if v_seen.per_window is null then
            continue;
        end if;
        case
            when v_seen.unit = 'tokens' and v_seen.hourly then
                v_use.learned_tokens_per_hour := livewell_private.learned_limit(v_use.learned_tokens_per_hour, v_seen.per_window, v_grows);
            when v_seen.unit = 'tokens' then
                v_use.learned_tokens_per_minute := livewell_private.learned_limit(v_use.learned_tokens_per_minute, v_seen.per_window, v_grows);
            when v_seen.hourly then
                v_use.learned_per_hour := livewell_private.learned_limit(v_use.learned_per_hour, v_seen.per_window, v_grows);
            else
                v_use.learned_per_minute := livewell_private.learned_limit(v_use.learned_per_minute, v_seen.per_window, v_grows);
        end case;
    end loop;
    v_use.observed_at := p_asked;
    if v_grows then
        v_use.grown_at := p_now;
    end if;
    return v_use;
end $$;
