-- squawk-ignore-file ban-drop-table, ban-drop-view, renaming-table, renaming-column, renaming-object
-- One word for each thing: a refresh of an item drawn at random is a sample, a judged item an assessment. The credit in bytes, which
-- nobody reads any more, goes.
drop table livewell_private.probe_credit;

alter table livewell_private.probe rename to sample;
alter table livewell_private.sample rename constraint probe_pkey to sample_pkey;
alter table livewell_private.sample rename constraint probe_has_an_item to sample_has_an_item;

alter table livewell_private.probe_result rename to sample_result;
alter table livewell_private.sample_result rename constraint probe_result_pkey to sample_result_pkey;
alter sequence livewell_private.probe_result_id_seq rename to sample_result_id_seq;

alter table livewell_private.probe_allowance rename to sample_allowance;
alter table livewell_private.sample_allowance rename constraint probe_allowance_pkey to sample_allowance_pkey;
alter table livewell_private.sample_allowance rename constraint probe_allowance_has_a_provider to sample_allowance_has_a_provider;
alter table livewell_private.sample_allowance rename constraint probe_allowance_is_not_overdrawn to sample_allowance_is_not_overdrawn;

drop view if exists livewell.freshness;
alter table livewell_private.freshness_hour rename column probes to samples;
alter table livewell_private.freshness_hour rename column probes_fresh to samples_fresh;
alter table livewell_private.freshness_hour rename column probes_ok to samples_ok;

alter type livewell_private.look rename to assessment;

update livewell_private.setting set name = 'freshness.sample_share',
    description = 'Share of the calls to a provider that goes to random samples; 0 for none.'
where name = 'freshness.probe_share';
update livewell_private.setting set name = 'freshness.figures_items' where name = 'freshness.figures_sample';
update livewell_private.setting set name = 'freshness.check_again',
    description = 'When an item that is worth a refresh but found no headroom is checked again.'
where name = 'freshness.look_again';
update livewell_private.setting set description = 'How many items one run of the checker checks.' where name = 'freshness.max_items';
update livewell_private.setting set description = 'When an item whose refresh was queued is checked again, if nothing was heard of it.'
where name = 'freshness.queued_again';

update livewell_private.task set name = 'freshness_samples', run = 'livewell_private.task_freshness_samples'
where name = 'freshness_probes';
