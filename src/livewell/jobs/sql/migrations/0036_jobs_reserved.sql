-- What an attempt has reserved of its endpoint's budget, and by which key; null while it has not.
alter table livewell.job add column reserved_bytes bigint, add column reserved_tokens integer, add column api_key text;
-- What has left tells what it spent; what a look found tells whether an endpoint is to be asked.
alter type livewell.ended_jobs add attribute spent jsonb;
alter type livewell.claim_view add attribute budgeted boolean;
alter type livewell.open_lane add attribute endpoint text;
