-- Sessions that were closed while somebody else held them in an open transaction: the sweeper ends them when they are free. Rows are only
-- added by those who close, so that nobody waits for one.
create table livewell_private.session_leaving (
    id bigint generated always as identity,
    session_id uuid not null,
    constraint session_leaving_pkey primary key (id)
);

create index session_leaving_session on livewell_private.session_leaving (session_id);
