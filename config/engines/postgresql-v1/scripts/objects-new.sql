-- Before PostgreSQL 15, all roles may create tables in the schema public of a new database.
SELECT 'REVOKE CREATE ON SCHEMA public FROM PUBLIC' WHERE current_setting('server_version_num')::int < 150000 \gexec
