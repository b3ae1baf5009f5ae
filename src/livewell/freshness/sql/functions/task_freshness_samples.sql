-- The samples' task: each provider whose quota is open draws as many as it may spend whole calls on.
-- for: internal
create or replace function livewell_private.task_freshness_samples(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_allowed record;
    v_drawn integer := 0;
begin
    perform livewell_private.require_primary();
    perform livewell_private.credit_samples(p_now);
    for v_allowed in
        select a.provider, least(floor(a.credit), 100)::integer as calls from livewell_private.sample_allowance as a
        join livewell.providers as p on p.name = a.provider and p.state = 'active'
        where a.credit >= 1 and livewell.quota_open(a.provider, 0, p_now)
        order by a.provider
    loop
        begin
            v_drawn := v_drawn + livewell_private.draw_samples(v_allowed.provider, v_allowed.calls, p_now);
        exception when others then
            perform livewell_private.warn('freshness.samples_failed', v_allowed.provider, format('%s: %s', sqlstate, sqlerrm), p_now);
        end;
    end loop;
    return jsonb_build_object('drawn', v_drawn);
end $$;
