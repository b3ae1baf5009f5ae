-- Adds items that are not there, in one order. One that somebody is adding in a transaction that stays open is found by halving, and left
-- out.
-- for: internal
create or replace function livewell_private.add_items(p_types text[], p_keys text[], p_now timestamptz, p_patience integer default 250)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '250ms' as $$
declare
    v_half constant integer := cardinality(p_keys) / 2;
begin
    if p_patience < 250 then
        perform set_config('lock_timeout', p_patience::text, true);
    end if;
    begin
        insert into livewell_private.item (data_type, key, due_at, created_at)
        select distinct a.data_type, a.key, p_now, p_now
        from unnest(p_types, p_keys) as a (data_type, key)
        order by a.data_type, a.key
        on conflict (data_type, key) do nothing;
        return;
    exception when lock_not_available then
        if v_half = 0 then
            perform livewell_private.note_locked_rows('freshness.item_held', p_types[1], 'livewell_private.item', array['-1'], p_keys, null, p_now);
            return;
        end if;
    end;
    -- Half as patient each time, so that however many are held, all of them together cost a few moments.
    perform livewell_private.add_items(p_types[:v_half], p_keys[:v_half], p_now, greatest(1, p_patience / 2));
    perform livewell_private.add_items(p_types[v_half + 1:], p_keys[v_half + 1:], p_now, greatest(1, p_patience / 2));
end $$;
