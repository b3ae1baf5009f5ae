-- livewell: no transaction
-- squawk-ignore-file ban-concurrent-index-creation-in-transaction
-- How many refreshes that a user asked for wait at an endpoint. Only refreshes are looked into: payloads of others may be large.
create index concurrently if not exists job_live_asked_by on livewell_private.job_live ((payload ->> 'asked_by'), endpoint)
where state = 'pending' and kind like 'refresh.%' and payload ? 'asked_by';
