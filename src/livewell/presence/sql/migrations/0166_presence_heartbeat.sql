-- A gateway that renewed its sessions less often than they live would lose them all.
update livewell_private.setting set less_than = 'presence.gone_after' where name = 'presence.heartbeat_interval';
