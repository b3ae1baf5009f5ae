-- What budgets need from time to time: permits of silent holders booked, old hours of the ledger dropped. A task runs it.
-- for: service
create or replace function livewell.task_budget_care(p_now timestamptz default clock_timestamp())
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_permits integer;
    v_hours integer;
begin
    perform livewell_private.require_primary();
    v_permits := livewell_private.expire_permits(p_now);
    delete from livewell_private.quota_hour as h
    using livewell_private.provider as p
    where p.name = h.provider and h.hour < p_now - greatest(
        livewell.setting_interval('quota.ledger_retention'), p.quota_window + interval '1 day'
    );
    get diagnostics v_hours = row_count;
    return jsonb_build_object('permits_expired', v_permits, 'ledger_hours_dropped', v_hours);
end $$;
