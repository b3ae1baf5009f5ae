-- Locks the rows of some keys that nobody else has at this moment, and answers with the keys that have others. All of them, when the
-- table itself is locked; a key that somebody is adding in a transaction that is open shows no row, and is not found here.
-- for: internal
create or replace function livewell.held_keys(p_storing livewell.storing, p_keys text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' as $$
declare
    v_key livewell.stored_column;
begin
    select k.* into v_key from unnest(p_storing.columns) as k where k.name = (p_storing.type).key_column;
    perform livewell.require_foreign('held_foreign_keys');
    return livewell.held_foreign_keys(
        format('select array_agg(l.ctid) from (%s skip locked) as l', livewell.locking_query(p_storing)),
        format(
            'select array_agg(distinct t.%3$I::text) from %1$I.%2$I as t where t.%3$I = any ($1::%4$s[]) and t.ctid <> all ($2)',
            split_part((p_storing.type).table_name, '.', 1), split_part((p_storing.type).table_name, '.', 2), v_key.name, v_key.type
        ),
        p_keys
    );
exception when lock_not_available then
    return p_keys;
end $$;
