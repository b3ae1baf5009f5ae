-- Marks breakers whose pause is over as half open, because calls start again: their outcome decides.
-- for: internal
create or replace function livewell_private.begin_probes(p_names text[], p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_changes jsonb;
begin
    with begun as (
        update livewell_private.limit_use as u set breaker = 'half_open', breaker_passed = 0
        where u.name = any (p_names) and u.breaker = 'open' and u.breaker_until <= p_now
        returning u.name
    )
    select jsonb_agg(jsonb_build_object(
        'event', 'breaker_half_opened', 'table_name', 'endpoint', 'record_id', b.name, 'operation', 'update',
        'old', jsonb_build_object('breaker', 'open'), 'new', jsonb_build_object('breaker', 'half_open'), 'actor', 'livewell'
    ))
    into v_changes
    from begun as b;
    if v_changes is not null then
        perform livewell.audit_write(v_changes, p_now);
    end if;
end $$;
