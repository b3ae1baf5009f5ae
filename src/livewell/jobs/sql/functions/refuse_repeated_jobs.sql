-- Refuses a batch that names a job twice.
-- for: internal
create or replace function livewell_private.refuse_repeated_jobs(p_ids bigint[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    if (select count(distinct i.id) from unnest(p_ids) as i (id)) <> cardinality(p_ids) then
        raise exception using errcode = 'LWJ03', message = 'a job is named twice in one finish';
    end if;
end $$;
