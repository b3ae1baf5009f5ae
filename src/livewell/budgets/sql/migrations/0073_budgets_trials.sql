-- squawk-ignore-file renaming-column
-- What an open breaker lets through after its pause are its trials.
alter table livewell_private.endpoint rename column breaker_probes to breaker_trials;
