\ir rival_tables.sql
-- What the sweep looks for; the extension does without it.
CREATE INDEX ON holds (expires_at);
