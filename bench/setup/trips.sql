\ir rival_tables.sql
