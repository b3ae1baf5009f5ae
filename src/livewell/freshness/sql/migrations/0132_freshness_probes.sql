-- Probes: refreshes of watched items drawn at random, whatever their age, because what the scheduler chooses to fetch says
-- nothing of what it does not. A probe is here from its drawing until its outcome.
create table livewell_private.probe (
    item_id bigint not null,
    drawn_at timestamptz not null,
    constraint probe_pkey primary key (item_id),
    constraint probe_has_an_item foreign key (item_id) references livewell_private.item (id) on delete cascade
);

-- What probes found; finishes append, the figures' task folds.
create table livewell_private.probe_result (
    data_type text not null,
    fresh boolean not null,
    ok boolean not null
);

-- The bytes that may go to probes: a share of all that went to the provider, counted by the ledger of hours.
create table livewell_private.probe_credit (
    provider text not null,
    hour timestamptz not null,
    bytes bigint not null,
    credit double precision not null default 0,
    constraint probe_credit_pkey primary key (provider),
    constraint probe_credit_has_a_provider foreign key (provider) references livewell_private.provider (name)
) with (fillfactor = 50);

-- Absent ones only: a value somebody tuned is never set back by a deployment.
insert into livewell_private.setting (name, type, value, default_value, minimum, maximum, description)
values
('freshness.probe_share', 'number', '0.005', '0.005', '0', '0.1',
 'Share of the bytes of a provider that goes to random probes; 0 for none.')
on conflict (name) do nothing;

insert into livewell_private.task (
    name, description, run, every, cron, backoff_min, backoff_max, time_limit, late_after, due_at
)
values
('freshness_probes', 'Draw watched items at random and refresh them, whatever their age', 'livewell.task_freshness_probes',
 '1 minute', null, '1 minute', '5 minutes', '1 minute', '10 minutes', clock_timestamp())
on conflict (name) do nothing;
