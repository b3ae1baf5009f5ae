-- How old items are, by type, how many viewers count for them, and whether those that are stale may be refreshed now: a closed gate holds back what is there,
-- never what is missing. A check that fails is warned about and stops nothing else.
-- for: internal
create or replace function livewell_private.assess_items(p_item_ids bigint[], p_now timestamptz) returns livewell_private.assessment[]
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_assessments livewell_private.assessment[] := array[]::livewell_private.assessment[];
    v_type livewell_private.data_type;
    v_judged livewell_private.judged_key[];
    v_shut jsonb;
    v_error text;
begin
    for v_type in
        select t.* from livewell_private.data_type as t
        where t.name in (select i.data_type from livewell_private.item as i where i.id = any (p_item_ids))
        order by t.name
    loop
        v_judged := livewell_private.judge_items(v_type, array(
            select i.key from livewell_private.item as i where i.id = any (p_item_ids) and i.data_type = v_type.name
        ), p_now);
        v_shut := null;
        if v_type.gate <> 'always' then
            select jsonb_object_agg(g.key, coalesce(g.opens_at, p_now + interval '1 minute')) into v_shut
            from livewell_private.open_gates(v_type.name, array(
                select j.key from unnest(v_judged) as j where j.stale and j.newest is not null
            ), p_now) as g
            where not g.open;
        end if;
        select j.error into v_error from unnest(v_judged) as j where j.error is not null limit 1;
        if found then
            perform livewell_private.warn('freshness.check_failed', v_type.name, v_error, p_now);
        end if;
        v_assessments := v_assessments || array(
            select row (
                i.id, i.data_type, i.key, i.viewers - i.uncounted, j.newest, j.ttl, j.stale, j.error, (v_shut ->> j.key)::timestamptz, null, null
            )::livewell_private.assessment
            from unnest(v_judged) as j
            join livewell_private.item as i on i.data_type = v_type.name and i.key = j.key
        );
    end loop;
    return v_assessments;
end $$;
