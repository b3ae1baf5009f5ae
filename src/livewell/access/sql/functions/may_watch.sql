-- Which of some keys of a type a class of viewers may look at, by position; the transaction has its role and its claims. For a type
-- that leaves it to row-level security the rows are asked themselves.
-- for: user, anon
create or replace function livewell.may_watch(p_type text, p_keys text[]) returns boolean[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
declare
    v_keys text[];
begin
    perform livewell_private.require_reader(p_type, livewell_private.calling_role(), false);
    perform livewell_private.require_keys_at_once(p_type, p_keys);
    v_keys := livewell_private.watchable_keys(p_type, p_keys);
    return array(select coalesce(a.key = any (v_keys), false) from unnest(p_keys) with ordinality as a (key, at) order by a.at);
end $$;
