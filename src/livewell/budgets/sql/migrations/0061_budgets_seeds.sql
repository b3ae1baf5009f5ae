-- The providers of the seed documents with their limits; what was tuned since is never overwritten.
insert into livewell_private.provider (name, description, quota_bytes)
values
('openai', 'OpenAI', null),
('google', 'Google Cloud', null),
('anthropic', 'Anthropic', null),
('fmp', 'Financial Modeling Prep', 20 * 1024::bigint ^ 3)
on conflict (name) do nothing;

insert into livewell_private.endpoint (name, provider, requests_per_minute, tokens_per_minute, concurrent)
values
('openai/gpt-4o-mini', 'openai', 500, 200000, 50),
('openai/gpt-4-vision', 'openai', 100, 20000, 20),
('google/vision-api', 'google', 1800, null, 100),
('anthropic/claude-3', 'anthropic', 400, 100000, 25),
('fmp', 'fmp', 300, null, 10)
on conflict (name) do nothing;

insert into livewell_private.limit_use (name) select e.name from livewell_private.endpoint as e on conflict (name) do nothing;
insert into livewell_private.quota_use (provider) select p.name from livewell_private.provider as p on conflict (provider) do nothing;

insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
select name, type, value, value, minimum, maximum, description
from (values
    ('quota.sample_share', 'number', '0.01', '0', '1',
     'Share of finished calls from which size estimates learn; the first of its kind is always taken.'),
    ('quota.ledger_retention', 'duration', '730 days', '31 days', '3650 days',
     'How long the hourly ledger of bytes, requests and tokens is kept.'),
    ('budgets.permit_lease', 'duration', '00:01:00', '00:00:01', '1 day',
     'How long a permit taken by hand counts as in use when its holder falls silent.')
) as seeded (name, type, value, minimum, maximum, description)
on conflict (name) do nothing;
