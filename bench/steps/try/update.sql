-- note: one prepared UPDATE of one counter row: the least that a durable hold can cost; no hold, no ledger, no check
\set pool random(:first, :last)
UPDATE hold_pools SET held = held + 1000000 WHERE tenant = '' AND pool = :pool AND stripe = 0;
