-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

create table livewell.learned (
    data_type text not null,
    fetches integer not null,
    changes integer not null,
    minutes_between double precision not null,
    bytes double precision not null,
    sizes integer not null
);
