-- How refreshes at a provider are chosen. Null: by value where bytes are paid for, by viewers where they are not.
alter table livewell_private.provider add column policy text;
alter table livewell_private.provider add constraint provider_policy_is_known check (policy in ('viewers', 'value')) not valid;
