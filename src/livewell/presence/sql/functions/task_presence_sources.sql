-- Reads the sources that are due and makes their viewers what they say. A source that fails, or says nothing at all while it
-- has viewers, is warned about and keeps its viewers until the sweeper finds that nobody renewed them; one stops no other.
-- for: internal
create or replace function livewell.task_presence_sources(p_now timestamptz) returns jsonb
language plpgsql security definer
set search_path = '' as $$
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
end $$;
