-- What may go to probes is counted in calls: where a few keys share a request, a probe of one of them costs a whole call and few
-- bytes. Every provider begins again with nothing. probe_credit stays, unused: the functions that read it are replaced only
-- after this, and a running system draws probes until then.
create table livewell_private.probe_allowance (
    provider text not null,
    hour timestamptz not null,
    requests bigint not null,
    credit double precision not null default 0,
    constraint probe_allowance_pkey primary key (provider),
    constraint probe_allowance_has_a_provider foreign key (provider) references livewell_private.provider (name),
    constraint probe_allowance_is_not_overdrawn check (credit >= 0)
) with (fillfactor = 50);

update livewell_private.setting
set description = 'Share of the calls to a provider that goes to random probes; 0 for none.'
where name = 'freshness.probe_share';
