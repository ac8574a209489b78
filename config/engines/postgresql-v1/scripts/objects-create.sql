-- Creates the database of the variable id under the name of the variable new. \gexec would hide the message of an error.
\set ON_ERROR_STOP off
SELECT coalesce((SELECT format('DROP DATABASE %I WITH (FORCE)', datname) FROM pg_database WHERE datname = :'new'), 'SELECT') AS statement \gset
:statement \g /dev/null
\unset statement
WITH :wanted
SELECT format('CREATE DATABASE %I TEMPLATE template0', :'new')
    || coalesce(' ENCODING ' || quote_literal(attributes->>'encoding'), '')
    || coalesce(' LOCALE ' || quote_literal(attributes->>'locale'), '')
    || coalesce(' CONNECTION LIMIT ' || (attributes->>'connectionLimit'), '') AS statement
FROM databases WHERE id = :'id' \gset
:statement \g /dev/null
\if :ERROR
-- A wrong locale, and one that does not fit the encoding.
SELECT json_build_object('id', :'id', 'kind', CASE WHEN refused THEN 'Refused' ELSE 'Failed' END, 'text',
    CASE WHEN refused THEN 'attributes.locale: ' ELSE '' END || :'LAST_ERROR_MESSAGE')
FROM (SELECT :'LAST_ERROR_SQLSTATE' IN ('42809', '22023')) AS one(refused);
\else
\! : > "$DBC_WORK/created"
\endif
