-- How old the youngest slot of a ring is, in slots, from which on the ring holds at least so much: as long as that slot counts, so
-- much is used.
-- for: internal
create or replace function livewell_private.ring_age(p_ring integer[], p_amount bigint) returns integer
language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    return (
        select min(s.age)
        from (
            select r.age, sum(r.amount) over (order by r.age) as amount
            from (select cardinality(p_ring) - u.at as age, u.amount from unnest(p_ring) with ordinality as u (amount, at)) as r
        ) as s
        where s.amount >= p_amount
    );
end $$;
