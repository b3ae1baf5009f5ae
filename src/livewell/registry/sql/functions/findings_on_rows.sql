-- What judging a few of the rows there are shows: that checking fails, that a row has a TTL that is none, or a time to come.
-- for: internal
create or replace function livewell_private.findings_on_rows(p_type livewell_private.data_type, p_now timestamptz)
returns table (severity text, problem text, message text, fix text)
language plpgsql
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_keys text[];
    v_judged livewell_private.judged_key[];
    v_bad bigint := 0;
begin
    perform livewell_private.require_foreign('ask_foreign');
    if p_type.table_name is null then
        v_keys := array(select r.key from livewell_private.record as r where r.data_type = p_type.name limit 20);
    else
        v_keys := array(select k.key from jsonb_array_elements_text(livewell_private.ask_foreign(format(
            'select jsonb_agg(distinct r.key) from (select t.%I::text as key from %I.%I as t limit 20) as r where r.key is not null',
            p_type.key_column, split_part(p_type.table_name, '.', 1), split_part(p_type.table_name, '.', 2)
        ), null)) as k (key));
    end if;
    if p_type.ttl_column is not null then
        v_bad := (livewell_private.ask_foreign(format(
            'select to_jsonb(count(*)) from (select t.%I as ttl from %I.%I as t limit 10000) as r where r.ttl <= %s', p_type.ttl_column,
            split_part(p_type.table_name, '.', 1), split_part(p_type.table_name, '.', 2), (
                select case when a.atttypid = 'interval'::regtype then 'interval ''0''' else '0' end
                from pg_catalog.pg_attribute as a
                where a.attrelid = livewell_private.find_relation(p_type.table_name) and a.attname = p_type.ttl_column
            )
        ), null))::bigint;
    end if;
    v_judged := livewell_private.judge_items(p_type, coalesce(v_keys, '{}'), p_now);
    return query
    select case when every(j.error is not null) then 'error' else 'warning' end, 'check_fails',
        format('checking %s fails: %s', min(j.key) filter (where j.error is not null), min(j.error)), 'it counts as stale, once per TTL'
    from unnest(v_judged) as j
    having count(j.error) > 0;
    return query
    select 'warning', 'time_to_come', format('%s was fetched at %s, which is to come', min(j.key), max(j.newest)),
        'it stays fresh until then: is the column in UTC?'
    from unnest(v_judged) as j
    where j.newest > p_now + interval '1 day'
    having count(*) > 0;
    if v_bad > 0 then
        return query select 'warning', 'ttl_not_positive',
            format('%s rows of %s have a TTL that is not positive', v_bad, p_type.table_name), 'set it to null, or above 0';
    end if;
exception
    when others then
        return query select 'error', 'check_fails', 'checking fails: ' || sqlerrm, 'mend what it names';
end $$;
