-- A trigger for the table of a type, to be made by its owner: tells what was written, as livewell.changed does, also by logins that have
-- no right on Livewell. For each statement, with the transition tables old_rows, new_rows or both, the type as its argument, and the
-- condition that it was not Livewell who wrote. What a stranger could gain by it is to tell of rows that he may write anyway: the type
-- must be the table's own, and keys are read by the output functions of their type, not by casts, which may be anybody's.
-- for: service
create or replace function livewell.tell_written() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_type record;
    v_trigger record;
    v_new text[];
    v_old text[];
begin
    perform livewell_private.require_primary();
    select livewell_private.find_relation(t.table_name) as relation,
        -- Blanks at the end of a char(n) are no part of a key.
        format(case when a.atttypid = 'bpchar'::regtype then 'rtrim(concat(r.%I))' else 'concat(r.%I)' end, t.key_column) as key
    into v_type
    from livewell_private.known_types as t
    left join pg_catalog.pg_attribute as a on a.attrelid = tg_relid and a.attname = t.key_column
    where t.name = tg_argv[0];
    if not found then
        return null;
    end if;
    select g.tgnewtable is not null as has_new, g.tgoldtable is not null as has_old,
        -- Without a transition table its name would be looked up, and found among the temporary tables of whoever writes.
        num_nonnulls(g.tgnewtable, g.tgoldtable) > 0 and coalesce(g.tgnewtable, 'new_rows') = 'new_rows'
        and coalesce(g.tgoldtable, 'old_rows') = 'old_rows' and g.tgqual is not null as is_sound
    into v_trigger
    from pg_catalog.pg_trigger as g where g.tgrelid = tg_relid and g.tgname = tg_name;
    if v_type.relation is distinct from tg_relid or tg_level <> 'STATEMENT' or not v_trigger.is_sound then
        raise exception using errcode = 'LWN05', message = format('trigger %s of %s cannot tell what was written', tg_name, tg_relid::regclass),
            hint = format(
                'on the table of type %s, for each statement, referencing new table as new_rows or old table as old_rows, '
                'when (current_user <> ''livewell_writer'')', tg_argv[0]
            );
    end if;
    if v_trigger.has_new then
        execute format('select array_agg(distinct %s) from new_rows as r', v_type.key) into v_new;
    end if;
    if v_trigger.has_old then
        execute format('select array_agg(distinct %s) from old_rows as r', v_type.key) into v_old;
    end if;
    perform livewell.changed(tg_argv[0], v_new || v_old);
    return null;
end $$;
