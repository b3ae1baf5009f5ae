-- Drops one expired partition, the oldest that is not in use, either of those that are kept briefly or of the others. Asks to be run
-- again at once while there are more, or soon while one is in use: the locks of a drop are held no longer than one short transaction.
-- for: internal
create or replace function livewell_private.drop_expired_partition(p_kept_briefly boolean, p_now timestamptz) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_expired record;
    v_dropped text;
    v_busy text[] := array[]::text[];
    v_unacknowledged text[] := array[]::text[];
    v_more boolean := false;
begin
    for v_expired in
        select e.partition_name, e.droppable from livewell.expired_job_partitions(p_now) as e
        where (e.parent = 'job_brief') = p_kept_briefly
    loop
        if not v_expired.droppable then
            v_unacknowledged := v_unacknowledged || v_expired.partition_name;
        elsif v_dropped is not null then
            v_more := true;
        else
            case livewell.drop_job_partition(v_expired.partition_name, p_now)
                when 'dropped' then v_dropped := v_expired.partition_name;
                when 'busy' then v_busy := v_busy || v_expired.partition_name;
                else null;
            end case;
        end if;
    end loop;
    return jsonb_build_object(
        'dropped', case when v_dropped is null then '[]' else jsonb_build_array(v_dropped) end,
        'busy', to_jsonb(v_busy), 'unacknowledged', to_jsonb(v_unacknowledged),
        'again_in', case when v_more then '0 seconds' when v_busy <> array[]::text[] then '15 minutes' end
    );
end $$;
