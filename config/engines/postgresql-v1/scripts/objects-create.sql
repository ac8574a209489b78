-- Creates the database of the variable id under the name of the variable new.
\set ON_ERROR_STOP off
SELECT format('DROP DATABASE %I WITH (FORCE)', datname) FROM pg_database WHERE datname = :'new' \gexec
WITH :wanted
SELECT format('CREATE DATABASE %I TEMPLATE template0', :'new')
    || coalesce(' ENCODING ' || quote_literal(attributes->>'encoding'), '')
    || coalesce(' LOCALE ' || quote_literal(attributes->>'locale'), '')
    || coalesce(' CONNECTION LIMIT ' || (attributes->>'connectionLimit'), '')
FROM databases WHERE id = :'id' \gexec
\if :ERROR
SELECT json_build_object('id', :'id', 'kind', 'Failed', 'text', :'LAST_ERROR_MESSAGE');
\else
\! : > "$DBC_WORK/created"
\endif
