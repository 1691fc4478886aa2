-- Credits on lease.  A company's credits of a type are the pool credits:["company","type"],
-- a lease of them is a generation of the pool, and a reservation is a hold.  There is no
-- table beside that.

CREATE EXTENSION IF NOT EXISTS hold_ledger CASCADE;

-- Reservations of no lease, unleased:["company","type"]: counted, but limited by nothing.
SELECT hold_class_set('unleased');
