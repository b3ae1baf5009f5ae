-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.task_run (
    id bigint not null generated always as identity,
    task text not null,
    epoch bigint not null,
    node text not null,
    outcome text not null,
    hour timestamp with time zone,
    started_at timestamp with time zone not null,
    ended_at timestamp with time zone not null,
    runs bigint not null default 1,
    total_time interval not null,
    longest_time interval not null,
    result jsonb,
    error jsonb,
    constraint task_run_is_folded_by_the_hour CHECK (((hour IS NOT NULL) OR (runs = 1))),
    constraint task_run_is_recorded_once PRIMARY KEY (id),
    constraint task_run_outcome_is_known CHECK ((outcome = ANY (ARRAY['succeeded'::text, 'failed'::text, 'lost'::text])))
) with (fillfactor=70);

CREATE INDEX task_run_ended ON livewell_private.task_run USING btree (ended_at);

CREATE INDEX task_run_of_task ON livewell_private.task_run USING btree (task, id);

CREATE UNIQUE INDEX task_run_quiet ON livewell_private.task_run USING btree (task, hour) WHERE (hour IS NOT NULL);
