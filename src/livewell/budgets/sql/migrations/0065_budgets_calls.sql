-- How calls are made: how long one may take, where it may go, and how an API key travels.
alter table livewell_private.endpoint add column call_timeout interval not null default interval '10 seconds';
alter table livewell_private.endpoint add constraint endpoint_call_timeout_is_short check (
    call_timeout > interval '0' and call_timeout <= interval '10 minutes'
) not valid;
alter table livewell_private.provider add column hosts text[] not null default '{}';
alter table livewell_private.provider add column key_in text;
alter table livewell_private.provider add column allow_private boolean not null default false;
alter table livewell_private.provider add constraint provider_key_travels_somewhere check (
    key_in = 'bearer' or key_in ~ '^(query|header):[A-Za-z0-9._-]{1,100}$'
) not valid;
