-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.

CREATE OR REPLACE FUNCTION livewell.ring_age(p_ring integer[], p_amount bigint)
 RETURNS integer
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
    return (
        select min(s.age)
        from (
            select r.age, sum(r.amount) over (order by r.age) as amount
            from (select cardinality(p_ring) - u.at as age, u.amount from unnest(p_ring) with ordinality as u (amount, at)) as r
        ) as s
        where s.amount >= p_amount
    );
end $function$;
