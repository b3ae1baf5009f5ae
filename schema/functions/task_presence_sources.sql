-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_presence_sources(p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
    v_source livewell.presence_source;
    v_read integer := 0;
    v_failed integer := 0;
    v_came integer := 0;
    v_went integer := 0;
    v_done record;
begin
    for v_source in
        select s.* from livewell.presence_source as s
        where s.enabled and (s.read_at is null or s.read_at + s.every <= p_now)
        order by s.read_at nulls first, s.name
        for update skip locked
    loop
        begin
            select d.came, d.went into v_done from livewell.read_source_once(v_source, p_now) as d;
            v_read := v_read + 1;
            v_came := v_came + v_done.came;
            v_went := v_went + v_done.went;
        exception when others then
            v_failed := v_failed + 1;
            update livewell.presence_source as s set read_at = p_now, last_error = format('%s: %s', sqlstate, sqlerrm)
            where s.name = v_source.name;
            perform livewell.warn('presence.source_failed', v_source.name, format('%s: %s', sqlstate, sqlerrm), p_now);
        end;
    end loop;
    return jsonb_build_object('came', v_came, 'went', v_went, 'failed', v_failed);
end $function$;
