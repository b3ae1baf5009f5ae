-- The figures' task: what viewers see now stands for the time since the last run, five minutes at most.
-- for: internal
create or replace function livewell_private.task_freshness_figures(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp set jit = off as $$
declare
    v_last timestamptz;
    v_items bigint;
begin
    perform livewell_private.require_primary();
    select w.begun_at into v_last from livewell_private.freshness_walk as w where w.name = 'figures';
    insert into livewell_private.freshness_walk as w (name, begun_at, due_at) values ('figures', p_now, p_now)
    on conflict (name) do update set begun_at = greatest(w.begun_at, excluded.begun_at);
    v_items := livewell_private.take_figures(
        least(5, greatest(0, coalesce(extract(epoch from p_now - v_last)::double precision / 60, 1))), p_now
    );
    perform livewell_private.take_fetches(p_now);
    perform livewell_private.fold_samples(p_now);
    return case when v_items > 0 then jsonb_build_object('items', v_items) end;
end $$;
