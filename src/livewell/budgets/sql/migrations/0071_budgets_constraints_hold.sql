-- What was only held for new rows holds for all of them; reading them locks out no reader and no writer.
alter table livewell_private.provider validate constraint provider_policy_is_known;
alter table livewell_private.provider validate constraint provider_key_travels_somewhere;
alter table livewell_private.endpoint validate constraint endpoint_call_timeout_is_short;
