"""Freshness replayed: a world with known change times, the policies that spend in it, and the figures that judge them.

`world` is what happens, `source` what the upstream answers, `audience` who looks, `policy` what is worth fetching,
`pure` the replay of the policy alone, `engine` the replay of the SQL functions on a virtual clock, `meter` the judge of
both. Time is in minutes since the beginning, amounts in bytes.
"""
