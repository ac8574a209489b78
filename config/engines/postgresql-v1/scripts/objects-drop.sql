-- Drops the database of the variable id. That of spec.bootstrap is only released. \gexec would hide the message of an error.
\set ON_ERROR_STOP off
SELECT coalesce((SELECT format('DROP DATABASE %I WITH (FORCE)', datname) FROM pg_database WHERE datname = 'dbc-new-' || md5(:'id')), 'SELECT')
    AS statement \gset
:statement \g /dev/null
\set failed :ERROR
\set message :LAST_ERROR_MESSAGE
WITH :wanted SELECT EXISTS (SELECT FROM removed WHERE what = 'database' AND id = :'id') AS dropped \gset
\unset statement
WITH :wanted
SELECT coalesce((
    SELECT CASE WHEN name = current_setting('dbc.database') THEN format('DROP ROLE %I', bearer)
        ELSE format('DROP DATABASE %I WITH (FORCE)', name) END
    FROM removed WHERE what = 'database' AND id = :'id'), 'SELECT') AS statement \gset
:statement \g /dev/null
\if :ERROR
\set failed :ERROR
\set message :LAST_ERROR_MESSAGE
\endif
\if :failed
SELECT json_build_object('id', :'id', 'kind', 'Failed', 'text', :'message');
\elif :dropped
WITH :wanted
SELECT json_build_object('id', :'id', 'kind', 'change', 'text',
    CASE WHEN name = current_setting('dbc.database') THEN 'released: it is the database of spec.bootstrap' ELSE 'removed' END)
FROM objects WHERE what = 'database' AND id = :'id';
\endif
