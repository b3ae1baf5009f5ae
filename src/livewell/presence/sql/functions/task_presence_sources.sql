-- Reads the source that is due longest and makes its viewers what it says; one a run, so that items are taken in order. A source
-- that fails, or says nothing at all while it has viewers, is warned about and keeps its viewers until the sweeper finds that
-- nobody renewed them; it stops no other.
-- for: internal
create or replace function livewell_private.task_presence_sources(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_source livewell_private.presence_source;
    v_failed integer := 0;
    v_came integer := 0;
    v_went integer := 0;
begin
    select s.* into v_source from livewell_private.presence_source as s
    where s.enabled and (s.read_at is null or s.read_at + s.every <= p_now)
    order by s.read_at nulls first, s.name limit 1
    for update skip locked;
    if not found then
        return jsonb_build_object('came', 0, 'went', 0, 'failed', 0, 'again_in', null);
    end if;
    begin
        select d.came, d.went into v_came, v_went from livewell_private.read_source_once(v_source, p_now) as d;
    exception
        when transaction_rollback then
            raise;
        when others then
            v_failed := 1;
            update livewell_private.presence_source as s set read_at = p_now, last_error = format('%s: %s', sqlstate, sqlerrm)
            where s.name = v_source.name;
            perform livewell_private.warn('presence.source_failed', v_source.name, format('%s: %s', sqlstate, sqlerrm), p_now);
    end;
    return jsonb_build_object('came', v_came, 'went', v_went, 'failed', v_failed, 'again_in', case when exists (
        select from livewell_private.presence_source as s where s.enabled and (s.read_at is null or s.read_at + s.every <= p_now)
    ) then '0 seconds' end);
end $$;
