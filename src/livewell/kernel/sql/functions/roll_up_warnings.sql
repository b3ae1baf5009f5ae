-- Rolls fresh warnings up into their hours, some at a time, and drops those past their retention; asks to be run again at once
-- while there are more. What somebody else rolls up just now is left to them.
-- for: internal
create or replace function livewell_private.roll_up_warnings(p_retention interval, p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_batch constant integer := 10000;
    v_rolled_up integer;
    v_dropped integer;
begin
    with taken as (
        delete from livewell_private.fresh_warning as f
        where f.ctid = any (array(select o.ctid from livewell_private.fresh_warning as o order by o.id limit v_batch for update skip locked))
        returning f.*
    ),
    -- In one order, so that two at once wait for each other and not crosswise.
    rolled as (
        insert into livewell_private.warning as w (hour, code, subject, warnings, message, first_at, last_at)
        select t.hour, t.code, t.subject, sum(t.warnings), (array_agg(t.message order by t.warned_at desc, t.id desc))[1],
            min(t.warned_at), max(t.warned_at)
        from (select date_trunc('hour', t.warned_at, 'UTC') as hour, t.* from taken as t) as t
        group by t.hour, t.code, t.subject
        order by t.hour, t.code, t.subject
        on conflict (hour, code, subject) do update
        set warnings = w.warnings + excluded.warnings, first_at = least(w.first_at, excluded.first_at),
            message = case when excluded.last_at >= w.last_at then excluded.message else w.message end,
            last_at = greatest(w.last_at, excluded.last_at)
    )
    select count(*) into v_rolled_up from taken;
    delete from livewell_private.warning as w
    where w.ctid = any (array(
        select o.ctid from livewell_private.warning as o
        where o.hour < p_now - p_retention
        order by o.hour limit v_batch for update skip locked
    ));
    get diagnostics v_dropped = row_count;
    return jsonb_build_object(
        'rolled_up', v_rolled_up, 'dropped', v_dropped,
        'again_in', case when v_batch in (v_rolled_up, v_dropped) then '0 seconds' end
    );
end $$;
