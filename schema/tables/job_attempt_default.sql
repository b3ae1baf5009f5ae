-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.job_attempt_default partition of livewell_private.job_attempt (
    constraint attempt_outcome_is_known CHECK ((outcome = ANY (ARRAY['failed'::text, 'rescheduled'::text, 'reset'::text, 'rescued'::text, 'dead'::text])))
) DEFAULT;
