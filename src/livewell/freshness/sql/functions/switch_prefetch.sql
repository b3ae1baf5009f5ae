-- Switches fetching ahead off where it does not pay, after twenty items were judged, and on again after a while, to be judged
-- anew. Either is audited, the first is warned about too.
-- for: internal
create or replace function livewell_private.switch_prefetch(p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_payoff constant double precision := livewell.setting_number('freshness.prefetch_payoff');
    v_again constant interval := livewell.setting_interval('freshness.prefetch_again');
    v_state livewell_private.prefetch_state;
begin
    for v_state in
        select s.* from livewell_private.prefetch_state as s
        where (s.enabled and s.judged >= 20 and s.hits < v_payoff * s.judged) or (not s.enabled and s.switched_at <= p_now - v_again)
        order by s.provider for update
    loop
        update livewell_private.prefetch_state as s
        set enabled = not s.enabled, switched_at = p_now, judged = case when s.enabled then s.judged else 0 end,
            hits = case when s.enabled then s.hits else 0 end
        where s.provider = v_state.provider;
        perform livewell.audit_write(jsonb_build_array(jsonb_build_object(
            'event', 'prefetch_switched', 'actor', 'prefetch', 'detail', jsonb_build_object(
                'provider', v_state.provider, 'enabled', not v_state.enabled, 'judged', v_state.judged, 'hits', v_state.hits
            )
        )), p_now);
        if v_state.enabled then
            perform livewell_private.warn('freshness.prefetch_off', v_state.provider, format(
                'of %s items fetched ahead only %s had a viewer in time', round(v_state.judged), round(v_state.hits)
            ), p_now);
        end if;
    end loop;
end $$;
