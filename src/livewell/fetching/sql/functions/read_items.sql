-- What is stored of keys of a type, in their order, how old it is, and why: the row of a key, or the list of its rows where a key
-- may have many. A key of which nothing is stored has no value. Users read what the type's read rule lets them, and by one call no
-- more rows than ten keys may have; the service all. What the rule keeps from them they learn nothing of but that.
-- for: service, user, anon
create or replace function livewell.read_items(p_type text, p_keys text[], p_now timestamptz default clock_timestamp())
returns table (key text, value jsonb, fetched_at timestamptz, age interval, is_stale boolean, viewers integer, why text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    v_for_service constant boolean := livewell_private.is_service(livewell_private.calling_role());
    v_most bigint := livewell.setting_integer('fetching.rows_per_key');
    v_type livewell_private.data_type;
    v_keys text[];
    v_rows livewell_private.stored_value[];
    v_through livewell_private.stored_value[];
    v_kept text[] := '{}'::text[];
    v_judged livewell_private.judged_key[];
    v_hold text;
begin
    perform livewell_private.require_reader(p_type, livewell_private.calling_role());
    perform livewell_private.require_few_keys(p_keys);
    if not v_for_service then
        v_most := greatest(1, v_most * 10 / greatest(10, cardinality(p_keys)));
    end if;
    select t.* into strict v_type from livewell_private.data_type as t where t.name = p_type;
    -- What is no key of the type is asked of nobody's table.
    v_keys := array(select distinct k.key from unnest(p_keys) as k (key) where livewell_private.is_key(k.key, v_type.key_pattern));
    v_rows := livewell_private.rows_of_keys(v_type, v_keys, v_most);
    if not v_for_service then
        v_through := livewell_private.rows_let_through(p_type, v_rows);
        v_kept := array(
            select k.key from unnest(v_keys) as k (key) left join unnest(v_rows) as r on r.key = k.key
            left join unnest(v_through) as t on t.key = k.key
            where r.key is not null and t.key is null
            union all
            select k.key from unnest(v_keys) as k (key) where k.key <> all (livewell_private.keys_let_through(p_type, v_keys))
        );
        v_rows := array(select r from unnest(v_through) as r where r.key <> all (v_kept));
        v_keys := array(select k.key from unnest(v_keys) as k (key) where k.key <> all (v_kept));
    end if;
    v_judged := livewell_private.judge_items(v_type, v_keys, p_now);
    if exists (select from unnest(v_judged) as j where j.stale) then
        select h.reason into v_hold from livewell.refresh_obstacle(p_type, v_type.endpoint, p_now) as h;
    end if;
    return query
    select a.key, r.value, r.fetched_at, case when isfinite(r.fetched_at) then p_now - r.fetched_at end, coalesce(j.stale, true),
        coalesce(i.viewers, 0),
        case
            when a.key = any (v_kept) then 'not for you'
            when j.key is null then 'no key of this type'
            when not j.stale then 'fresh'
            else livewell_private.why_stale(j, r.fetched_at, i, v_hold, v_for_service)
        end
    from unnest(p_keys) with ordinality as a (key, position)
    left join unnest(v_rows) as r on r.key = a.key
    left join unnest(v_judged) as j on j.key = a.key
    left join lateral (
        select i.* from livewell_private.item as i where i.data_type = p_type and i.key = a.key and a.key <> all (v_kept) offset 0
    ) as i on true
    order by a.position;
end $$;
