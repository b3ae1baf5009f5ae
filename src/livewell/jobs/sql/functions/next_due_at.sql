-- When the next job that is due later becomes ready, so that a waiting worker need not ask before.
-- for: service
create or replace function livewell.next_due_at() returns timestamptz
language plpgsql stable security definer
set search_path = '' set enable_seqscan = off as $$
begin
    return (select j.due_at from livewell.job_live as j where j.held = 'due' order by j.due_at limit 1);
end $$;
