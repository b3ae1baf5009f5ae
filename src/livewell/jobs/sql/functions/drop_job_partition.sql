-- Drops one expired partition, politely: it gives up after half a second rather than make everybody wait behind it.
-- for: service
create or replace function livewell.drop_job_partition(
    p_partition text, p_now timestamptz default clock_timestamp()
) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
declare
    v_parent text;
    v_unseen boolean := false;
begin
    perform livewell_private.require_primary();
    select e.parent into v_parent from livewell.expired_job_partitions(p_now) as e
    where e.partition_name = p_partition and e.droppable;
    if not found then
        return 'kept';
    end if;
    begin
        -- The parent first, as all who read through it: the other way round a reader and a drop would wait for each other.
        execute format('lock table only livewell_private.%I in access exclusive mode', v_parent);
        execute format('lock table livewell_private.%I in access exclusive mode', p_partition);
        if v_parent = 'job_failed' then
            -- Looked at again under the lock: a dead letter may have come in since.
            execute format('select exists (select from livewell_private.%I where acknowledged_at is null)', p_partition) into v_unseen;
        end if;
        if v_unseen then
            return 'kept';
        end if;
        execute format('drop table livewell_private.%I', p_partition);
    exception
        when lock_not_available then return 'busy';
        when undefined_table then return 'kept';
    end;
    perform livewell.audit_write(jsonb_build_array(jsonb_build_object(
        'event', 'job_partition_dropped', 'table_name', v_parent, 'record_id', p_partition, 'operation', 'delete',
        'actor', 'maintainer'
    )), p_now);
    return 'dropped';
end $$;
