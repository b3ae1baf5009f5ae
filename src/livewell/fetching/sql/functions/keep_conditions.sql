-- Keeps what an answer was marked with for the next conditional request, written only where it is another. A whole answer replaces
-- what there was, one that says "unchanged" confirms it; where nothing is stored to be unchanged, the next asks without a condition.
-- for: internal
create or replace function livewell_private.keep_conditions(p_judged livewell_private.judged_fetch[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
    with marked as materialized (
        select e.item as item_id, s.item_id is not null as known, s.etag as old_etag, s.last_modified as old_last_modified,
            coalesce(case when length(e.etag) <= 1000 and v.reason is distinct from 'nothing_stored' then e.etag end, k.etag) as etag,
            coalesce(
                case when length(e.last_modified) <= 1000 and v.reason is distinct from 'nothing_stored' then e.last_modified end,
                k.last_modified
            ) as last_modified
        from unnest(p_judged) as j
        cross join lateral (select (j.told).*) as e
        cross join lateral (select (j.found).*) as v
        left join livewell_private.fetch_state as s on s.item_id = e.item
        -- What is not said of a thing that is as it was stays.
        left join livewell_private.fetch_state as k on k.item_id = e.item and v.reason = 'not_modified'
        where e.item is not null and v.reason is distinct from 'put_meanwhile'
            and (v.outcome in ('fetched', 'unchanged') or v.reason = 'nothing_stored')
    ),
    forgotten as (
        delete from livewell_private.fetch_state as s using marked as m
        where s.item_id = m.item_id and m.known and num_nonnulls(m.etag, m.last_modified) = 0
    )
    insert into livewell_private.fetch_state as s (item_id, etag, last_modified)
    select m.item_id, m.etag, m.last_modified from marked as m
    where num_nonnulls(m.etag, m.last_modified) > 0
        and (m.etag, m.last_modified) is distinct from (m.old_etag, m.old_last_modified)
    order by m.item_id
    on conflict (item_id) do update set etag = excluded.etag, last_modified = excluded.last_modified;
end $$;
