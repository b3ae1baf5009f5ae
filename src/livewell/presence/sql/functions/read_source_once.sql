-- Reads one source and takes what it says, or, when it says nothing at all while it has viewers, warns and leaves them.
-- for: internal
create or replace function livewell_private.read_source_once(
    p_source livewell_private.presence_source, p_now timestamptz, out came integer, out went integer
)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_gateway constant text := 'source:' || p_source.name;
    v_said record;
begin
    select r.* into v_said from livewell_private.read_presence_source(p_source.reads) as r;
    if v_said.rows_read = 0 and exists (select from livewell_private.session as s where s.gateway = v_gateway) then
        perform livewell_private.warn('presence.source_silent', p_source.name, 'it names nobody, but had viewers: they are kept for a while', p_now);
        update livewell_private.presence_source as s
        set read_at = p_now, silent_since = coalesce(s.silent_since, p_now), last_error = null, rows_read = 0, rows_skipped = 0
        where s.name = p_source.name;
        came := 0;
        went := 0;
        return;
    end if;
    came := 0;
    went := 0;
    if exists (select from livewell_private.gateway as g where g.name = v_gateway) and not livewell.renew_gateway(v_gateway, p_now) then
        -- Past its time: what it held is undone first, and the next reading, at once, begins anew.
        perform livewell.close_gateway(v_gateway, p_now);
        return;
    end if;
    select h.came, h.went into came, went
    from livewell_private.set_source_viewers(
        p_source.name, coalesce(v_said.users, '{}'), coalesce(v_said.types, '{}'), coalesce(v_said.keys, '{}'), p_now
    ) as h;
    if v_said.rows_skipped > 0 then
        perform livewell_private.warn('presence.source_rows_skipped', p_source.name,
            format('%s of %s rows name a type or key that is not there', v_said.rows_skipped, v_said.rows_read), p_now);
    end if;
    update livewell_private.presence_source as s
    set read_at = p_now, last_ok_at = p_now, silent_since = null, last_error = null, rows_read = v_said.rows_read,
        rows_skipped = v_said.rows_skipped
    where s.name = p_source.name;
end $$;
