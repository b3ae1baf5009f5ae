-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.job_live partition of livewell_private.job (
    constraint job_live_leased_has_token CHECK (((state = 'processing'::text) = (lease_token IS NOT NULL))),
    constraint job_live_pkey PRIMARY KEY (id)
) FOR VALUES IN ('pending', 'processing') with (autovacuum_analyze_scale_factor=0.5, autovacuum_analyze_threshold=5000, autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_insert_threshold=-1, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, fillfactor=70);

CREATE INDEX job_live_asked_by ON livewell_private.job_live USING btree (((payload ->> 'asked_by'::text)), endpoint) WHERE ((state = 'pending'::text) AND (kind ~~ 'refresh.%'::text) AND (payload ? 'asked_by'::text));

CREATE INDEX job_live_deferred ON livewell_private.job_live USING btree (due_at) WHERE (waiting_for = 'due'::text);

CREATE UNIQUE INDEX job_live_one_per_dedupe_key ON livewell_private.job_live USING btree (dedupe_key) WHERE (dedupe_key IS NOT NULL);

CREATE UNIQUE INDEX job_live_one_running_per_serial_key ON livewell_private.job_live USING btree (serial_key) WHERE ((state = 'processing'::text) AND (serial_key IS NOT NULL));

CREATE INDEX job_live_parked ON livewell_private.job_live USING btree (serial_key, lane_id, priority DESC, due_at, id) WHERE (waiting_for = 'serial'::text);

CREATE INDEX job_live_ready ON livewell_private.job_live USING btree (lane_id, priority DESC, due_at, id) WHERE ((state = 'pending'::text) AND (waiting_for IS NULL));

CREATE INDEX job_live_ready_of_serial_key ON livewell_private.job_live USING btree (serial_key, priority DESC, due_at, id) WHERE ((state = 'pending'::text) AND (waiting_for IS NULL) AND (serial_key IS NOT NULL));

CREATE INDEX job_live_running ON livewell_private.job_live USING btree (lane_id, lease_until) WHERE (lease_token IS NOT NULL);

CREATE INDEX job_live_waiting ON livewell_private.job_live USING btree (endpoint) WHERE ((state = 'pending'::text) AND (endpoint IS NOT NULL));
