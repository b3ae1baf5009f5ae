-- What a claim has read of its limits and quotas stays at hand until it spends: the spacing of smooth limits, which breakers
-- would be probed, and what the allowance of each quota is drawn from. Nothing is asked twice under one lock.
alter type livewell_private.budget_rooms
add attribute spacing double precision[], add attribute probing boolean[], add attribute allowed bigint[],
add attribute used bigint[], add attribute counted bigint[], add attribute buckets double precision[],
add attribute returned bigint[], add attribute levels integer[], add attribute reasons text[];
