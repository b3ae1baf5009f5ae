-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.figures_taken (
    data_type text not null,
    fetches double precision not null,
    changes double precision not null,
    constraint figures_taken_has_a_type FOREIGN KEY (data_type) REFERENCES livewell_private.data_type(name) ON DELETE CASCADE,
    constraint figures_taken_pkey PRIMARY KEY (data_type)
) with (fillfactor=50);
