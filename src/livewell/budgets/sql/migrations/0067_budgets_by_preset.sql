-- squawk-ignore-file ban-drop-table
-- The providers of the seed documents are presets and no longer everybody's: those that nobody changed or used go. What was tuned,
-- has types, keys or other endpoints, was ever drawn on or is in the ledger stays; references from elsewhere keep it, too.
create table livewell_private.shipped_provider (like livewell_private.provider including defaults);
insert into livewell_private.shipped_provider (name, description, quota_bytes)
values
('openai', 'OpenAI', null),
('google', 'Google Cloud', null),
('anthropic', 'Anthropic', null),
('fmp', 'Financial Modeling Prep', 20 * 1024::bigint ^ 3);

create table livewell_private.shipped_endpoint (like livewell_private.endpoint including defaults);
insert into livewell_private.shipped_endpoint (name, provider, requests_per_minute, tokens_per_minute, concurrent)
values
('openai/gpt-4o-mini', 'openai', 500, 200000, 50),
('openai/gpt-4-vision', 'openai', 100, 20000, 20),
('google/vision-api', 'google', 1800, null, 100),
('anthropic/claude-3', 'anthropic', 400, 100000, 25),
('fmp', 'fmp', 300, null, 10);

create table livewell_private.unused (like livewell_private.limit_use including defaults);
insert into livewell_private.unused (name) select e.name from livewell_private.shipped_endpoint as e;

do $$
declare
    v_provider text;
begin
    for v_provider in
        select p.name from livewell_private.provider as p
        join livewell_private.shipped_provider as s on s.name = p.name
            and to_jsonb(s) - '{created_at,updated_at}'::text[] = to_jsonb(p) - '{created_at,updated_at}'::text[]
        where not exists (select from livewell_private.api_key as k where k.provider = p.name)
            and not exists (select from livewell_private.quota_hour as h where h.provider = p.name)
            and not exists (
                select from livewell_private.endpoint as e
                left join livewell_private.shipped_endpoint as n on n.name = e.name
                    and to_jsonb(n) - '{created_at,updated_at}'::text[] = to_jsonb(e) - '{created_at,updated_at}'::text[]
                left join livewell_private.limit_use as u on u.name = e.name
                left join livewell_private.unused as z on to_jsonb(z) = to_jsonb(u)
                where e.provider = p.name and (
                    n.name is null or (u.name is not null and z.name is null)
                    or exists (select from livewell_private.job_lane as l where l.endpoint = e.name)
                    or exists (select from livewell_private.estimate as m where m.endpoint = e.name)
                    or exists (select from livewell_private.permit_block as b where b.endpoint = e.name)
                )
            )
    loop
        begin
            delete from livewell_private.limit_use as u using livewell_private.endpoint as e where e.provider = v_provider and u.name = e.name;
            delete from livewell_private.endpoint as e where e.provider = v_provider;
            delete from livewell_private.provider as p where p.name = v_provider;
        exception
            when foreign_key_violation then
                null; -- a type, a price or another's row stands on it
        end;
    end loop;
end $$;

drop table livewell_private.shipped_provider, livewell_private.shipped_endpoint, livewell_private.unused;
