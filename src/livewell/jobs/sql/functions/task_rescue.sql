-- One round of rescue: takes back jobs of silent workers, mends serial keys, forgets workers long unseen.
-- for: service
create or replace function livewell.task_rescue(p_now timestamptz default clock_timestamp()) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_batch constant integer := 500;
    v_rescued jsonb;
    v_healed integer;
    v_forgotten jsonb;
begin
    perform livewell_private.require_primary();
    select jsonb_agg(to_jsonb(r)) into v_rescued from livewell.rescue_jobs(v_batch, p_now) as r;
    v_healed := livewell.heal_serial_jobs();
    select jsonb_agg(w.id) into v_forgotten from livewell.retire_workers(null, interval '5 minutes', p_now) as w (id);
    return jsonb_build_object(
        'rescued', coalesce(v_rescued, '[]'), 'healed', v_healed, 'forgotten', coalesce(v_forgotten, '[]'),
        'again_in', case when jsonb_array_length(v_rescued) = v_batch then '0 seconds' end
    );
end $$;
