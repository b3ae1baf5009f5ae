-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.gate_change (
    gate text not null,
    changed_at timestamp with time zone not null,
    constraint gate_change_pkey PRIMARY KEY (gate)
) with (fillfactor=50);
