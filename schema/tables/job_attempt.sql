-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.job_attempt (
    job_id bigint not null,
    attempt integer not null,
    worker text,
    started_at timestamp with time zone,
    ended_at timestamp with time zone not null,
    outcome text not null,
    error jsonb,
    reason text,
    constraint attempt_outcome_is_known CHECK ((outcome = ANY (ARRAY['failed'::text, 'rescheduled'::text, 'reset'::text, 'rescued'::text, 'dead'::text])))
) partition by RANGE (ended_at);

CREATE INDEX job_attempt_job ON ONLY livewell_private.job_attempt USING btree (job_id, attempt);
