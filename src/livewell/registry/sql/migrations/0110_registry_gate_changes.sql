-- When what a gate answers was changed: sessions that moved, another rule. Rooms above check anew what that concerns.
create table livewell_private.gate_change (
    gate text not null,
    changed_at timestamptz not null,
    constraint gate_change_pkey primary key (gate)
) with (fillfactor = 50);
