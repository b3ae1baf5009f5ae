-- What was learned and probed lies here for seconds until it is folded: both tables are small at any time, so that writing them
-- anew is short, and get the key that a table needs to be replicated and repaired.
-- squawk-ignore-file adding-field-with-default, constraint-missing-not-valid, adding-serial-primary-key-field
alter table livewell_private.learned add column id bigint generated always as identity;
alter table livewell_private.learned add constraint learned_pkey primary key (id);
alter table livewell_private.probe_result add column id bigint generated always as identity;
alter table livewell_private.probe_result add constraint probe_result_pkey primary key (id);
