-- One seal over what was committed since the last; again after `audit.seal_interval`, at once while there is more.
-- for: service
create or replace function livewell.task_audit_seal(p_now timestamptz default clock_timestamp()) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_batch constant integer := 10000;
    v_seal record;
begin
    perform livewell_private.require_primary();
    select s.outcome, s.number, s.entries, s.hash into v_seal from livewell.seal_audit(v_batch, p_now) as s;
    return jsonb_build_object(
        'sealed', v_seal.entries,
        'seal', case when v_seal.outcome = 'sealed' then v_seal.number end,
        'hash', case when v_seal.outcome = 'sealed' then encode(v_seal.hash, 'hex') end,
        'again_in', case
            when v_seal.entries = v_batch then interval '0' else livewell.setting_interval('audit.seal_interval')
        end
    );
end $$;
