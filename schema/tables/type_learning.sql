-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell_private.type_learning (
    data_type text not null,
    fetches double precision not null default 0,
    changes double precision not null default 0,
    minutes_between double precision not null default 0,
    change_rate double precision,
    rate_weight double precision not null default 5,
    bytes_mean double precision,
    unchanged_bytes double precision,
    new_keys double precision not null default 0,
    new_found double precision not null default 0,
    refreshes double precision not null default 0,
    constraint type_learning_has_a_type FOREIGN KEY (data_type) REFERENCES livewell_private.data_type(name),
    constraint type_learning_pkey PRIMARY KEY (data_type)
) with (fillfactor=50);
