-- Tells whoever listens, when this commits, that watched items have changed or were looked at again: pairs of item and version, in
-- notices of at most 4,000 bytes. A transaction sends no more than eight: where they would not do, the last one is an empty list, which
-- says "compare all". No type and no key is told, because any login may listen. How many there were is a setting of the transaction.
-- for: internal
create or replace function livewell_private.tell_items(p_item_ids bigint[], p_versions bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_said constant text := current_setting('livewell.notices', true);
    v_told constant integer := case when v_said ~ '^[0-9]$' then v_said::integer else 0 end;
    v_notices text[];
begin
    if v_told < 8 then
        v_notices := array(
            select '[' || string_agg(p.pair, ',' order by p.at) || ']'
            from (
                -- Pairs are apart by a comma; the list is in brackets.
                select i.at, i.pair, (sum(octet_length(i.pair) + 1) over (order by i.at)) / 3900 as part
                from (
                    select t.at, '[' || t.id || ',' || t.version || ']' as pair
                    from unnest(p_item_ids, p_versions) with ordinality as t (id, version, at)
                ) as i
            ) as p
            group by p.part
            order by p.part
        );
        if v_told + cardinality(v_notices) > 7 then
            v_notices := array['[]'];
        end if;
        perform livewell_private.notify('livewell_changes', n.notice) from unnest(v_notices) as n (notice);
        perform set_config('livewell.notices', case when v_notices = '{"[]"}' then 8 else v_told + cardinality(v_notices) end::text, true);
    end if;
end $$;
