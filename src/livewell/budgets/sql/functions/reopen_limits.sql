-- Lets claims ask again at once where a limit was changed; what a provider or its account allows concerns all below it.
-- for: internal
create or replace function livewell.reopen_limits(p_names text[]) returns void
language plpgsql security definer
set search_path = '' as $$
begin
    perform from livewell.limit_use as u
    where u.name = any (p_names) or split_part(split_part(u.name, '/', 1), '@', 1) = any (p_names)
    order by u.name collate "C"
    for update;
    update livewell.limit_use as u set next_allowed_at = '-infinity'
    where (u.name = any (p_names) or split_part(split_part(u.name, '/', 1), '@', 1) = any (p_names))
        and u.next_allowed_at <> '-infinity';
end $$;
