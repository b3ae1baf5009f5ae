-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_freshness_figures(p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
AS $function$
declare
    v_last timestamptz;
    v_items bigint;
begin
    perform livewell.require_primary();
    select w.begun_at into v_last from livewell.freshness_walk as w where w.name = 'figures';
    insert into livewell.freshness_walk as w (name, begun_at, due_at) values ('figures', p_now, p_now)
    on conflict (name) do update set begun_at = greatest(w.begun_at, excluded.begun_at);
    v_items := livewell.take_figures(
        least(5, greatest(0, coalesce(extract(epoch from p_now - v_last)::double precision / 60, 1))), p_now
    );
    perform livewell.take_fetches(p_now);
    perform livewell.fold_samples(p_now);
    return case when v_items > 0 then jsonb_build_object('items', v_items) end;
end $function$;
