-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.task_prefetch(p_now timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
    v_items constant bigint := livewell.setting_integer('freshness.prefetch_items');
    v_bucket constant double precision := livewell.setting_number('freshness.prefetch_bucket');
    v_provider text;
    v_ids bigint[];
    v_queued bigint := 0;
    v_asked bigint;
begin
    perform livewell.require_primary();
    perform livewell.judge_prefetches(p_now);
    perform livewell.switch_prefetch(p_now);
    for v_provider in
        select p.name from livewell.provider as p
        left join livewell.byte_price as b on b.provider = p.name
        left join livewell.prefetch_state as s on s.provider = p.name
        where p.state = 'active' and coalesce(s.enabled, true)
            and coalesce(b.bucket_share, case when p.quota_bytes is null then 1 else 0 end) >= v_bucket
            and exists (
                select from livewell.endpoint as e join livewell.data_type as t on t.endpoint = e.name where e.provider = p.name
            ) and livewell.quota_open(p.name, -1, p_now)
        order by p.name
    loop
        begin
            v_ids := array(
                select i.id from livewell.item as i
                where i.id = any (array(select c.item_id from livewell.prefetch_candidates(v_provider, v_items, p_now) as c))
                    and not i.watched
                order by i.id for no key update skip locked
            );
            insert into livewell.prefetch (item_id, provider, asked_at)
            select c.item_id, v_provider, p_now from livewell.check_items(v_ids, -2, 'prefetch', p_now) as c
            where c.decision = 'queued'
            on conflict (item_id) do nothing;
            get diagnostics v_asked = row_count;
            v_queued := v_queued + v_asked;
        exception when others then
            perform livewell.warn('freshness.prefetch_failed', v_provider, format('%s: %s', sqlstate, sqlerrm), p_now);
        end;
    end loop;
    return jsonb_build_object('queued', v_queued);
end $function$;
