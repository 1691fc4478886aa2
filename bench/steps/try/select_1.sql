-- note: SELECT 1: the cost of a round trip
SELECT 1;
