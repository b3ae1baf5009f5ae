-- Fetches ahead what is likely to be looked at soon, at priority −2, with budget to spare only: a bucket that is nearly full and
-- a quota that is not low. Judges first whether that pays, and leaves it where it does not.
-- for: internal
create or replace function livewell_private.task_prefetch(p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_items constant bigint := livewell.setting_integer('freshness.prefetch_items');
    v_bucket constant double precision := livewell.setting_number('freshness.prefetch_bucket');
    v_provider text;
    v_ids bigint[];
    v_queued bigint := 0;
    v_asked bigint;
begin
    perform livewell_private.require_primary();
    perform livewell_private.judge_prefetches(p_now);
    perform livewell_private.switch_prefetch(p_now);
    for v_provider in
        select p.name from livewell.providers as p
        left join livewell_private.byte_price as b on b.provider = p.name
        left join livewell_private.prefetch_state as s on s.provider = p.name
        where p.state = 'active' and coalesce(s.enabled, true)
            and coalesce(b.bucket_share, case when p.quota_bytes is null then 1 else 0 end) >= v_bucket
            and exists (
                select from livewell.endpoints as e join livewell_private.known_types as t on t.endpoint = e.name where e.provider = p.name
            ) and livewell.quota_open(p.name, -1, p_now)
        order by p.name
    loop
        begin
            v_ids := array(
                select i.id from livewell_private.item as i
                where i.id = any (array(select c.item_id from livewell_private.prefetch_candidates(v_provider, v_items, p_now) as c))
                    and not i.watched
                order by i.id for no key update skip locked
            );
            insert into livewell_private.prefetch (item_id, provider, asked_at)
            select c.item_id, v_provider, p_now from livewell_private.check_items(v_ids, -2, 'prefetch', p_now) as c
            where c.decision = 'queued'
            on conflict (item_id) do nothing;
            get diagnostics v_asked = row_count;
            v_queued := v_queued + v_asked;
        exception when others then
            perform livewell_private.warn('freshness.prefetch_failed', v_provider, format('%s: %s', sqlstate, sqlerrm), p_now);
        end;
    end loop;
    return jsonb_build_object('queued', v_queued);
end $$;
