-- Refuses what PostgreSQL or this engine does not know or reserves, and what belongs to another object. Only the first reason is recorded.
SELECT coalesce(string_agg(json_build_object('id', id, 'kind', kind, 'text', text) || E'\n', ''), '') AS said FROM (
WITH :wanted,
live AS (SELECT * FROM objects WHERE mode <> 'Remove'),
given AS (SELECT l.id, l.what, l.oid, a.key, a.value FROM live l, json_each_text(l.attributes) AS a),
known(what, keys) AS (VALUES
    ('database', ARRAY['connectionLimit', 'encoding', 'extensions', 'locale', 'schemas']),
    ('user', ARRAY['connectionLimit', 'inherit', 'memberOf', 'validUntil'])),
-- Roles of the server that give no access to data, files or programs.
harmless AS (SELECT ARRAY['pg_monitor', 'pg_read_all_settings', 'pg_read_all_stats', 'pg_stat_scan_tables', 'pg_signal_backend',
    'pg_checkpoint', 'pg_use_reserved_connections'] AS roles),
elements AS (
    SELECT g.*, btrim(element) AS element FROM given g, regexp_split_to_table(value, ',') AS element
    WHERE key IN ('extensions', 'schemas', 'memberOf') AND btrim(value) <> ''),
accounts AS (SELECT unnest(ARRAY['postgres', 'replicator', 'public', 'none', current_user::text]) AS name),
reasons(n, id, kind, text) AS (
    SELECT 1, id, 'Refused', format('name: has %s bytes, and PostgreSQL allows 63; choose a shorter name', octet_length(name))
    FROM live WHERE octet_length(name) > 63
    UNION ALL
    SELECT 2, id, 'Refused', format('name: %s is reserved; choose another name', name)
    FROM live WHERE what = 'user' AND (name IN (SELECT name FROM accounts) OR name ~ '^(pg|dbc)_' OR name = current_setting('dbc.owner')
        OR has LIKE 'database.dbcluster.io/group=%')
    UNION ALL
    SELECT 2.5, id, 'Refused', format('name: %s has rights of a superuser, so it is never taken over; choose another name', name)
    FROM live WHERE what = 'user' AND NOT own AND oid IN (SELECT oid FROM mighty)
    UNION ALL
    SELECT 2, id, 'Refused', format('name: %s is reserved; choose another name', name)
    FROM live WHERE what = 'database' AND (name IN ('postgres', 'template0', 'template1') OR name ~ '^dbc-new-'
        OR oid IN (SELECT oid FROM pg_database WHERE datistemplate))
    UNION ALL
    SELECT 3, id, 'Exists',
        format('name: a %s %s exists that this object did not create; delete it, choose another name, or adopt it', what, name)
    FROM live WHERE oid IS NOT NULL AND NOT own AND NOT adopt
    UNION ALL
    SELECT 3, id, 'Exists', format('name: the object %s has the same name; choose another name', first)
    FROM (SELECT id, first_value(id) OVER (PARTITION BY what, name ORDER BY own DESC, id) AS first FROM live) AS same WHERE first <> id
    UNION ALL
    SELECT 4, id, 'Refused', format('attributes.%s: unknown; known are %s', key, array_to_string(keys, ', '))
    FROM given JOIN known USING (what) WHERE key <> ALL (keys)
    UNION ALL
    SELECT 5, id, 'Refused', format('attributes.connectionLimit: %s is not a number from -1 (no limit) to 999999999', value)
    FROM given WHERE key = 'connectionLimit' AND value !~ '^(-1|[0-9]{1,9})$'
    UNION ALL
    SELECT 5, id, 'Refused', format('attributes.inherit: %s is neither true nor false', value)
    FROM given WHERE key = 'inherit' AND value NOT IN ('true', 'false')
    UNION ALL
    SELECT 5, id, 'Refused', format('attributes.encoding: PostgreSQL has no encoding %s for databases; UTF8 is usual', value)
    FROM given WHERE key = 'encoding' AND (octet_length(value) > 63 OR pg_char_to_encoding(value::name) NOT BETWEEN 0 AND 34)
    UNION ALL
    SELECT 5, id, 'Refused', format('attributes.extensions: %s is not installed in the image; known to this server are %s', element,
        (SELECT string_agg(name, ', ' ORDER BY name) FROM pg_available_extensions))
    FROM elements WHERE key = 'extensions' AND element NOT IN (SELECT name FROM pg_available_extensions)
    UNION ALL
    SELECT 5, id, 'Refused', format('attributes.schemas: %s is reserved, empty or longer than 63 bytes', element)
    FROM elements WHERE key = 'schemas' AND (element ~ '^(pg_.*|information_schema|)$' OR octet_length(element) > 63)
    UNION ALL
    SELECT 5, id, 'Refused',
        format('attributes.memberOf: %s is not allowed or not in this version; allowed are %s', element, array_to_string(roles, ', '))
    FROM elements, harmless WHERE key = 'memberOf' AND (element <> ALL (roles) OR element NOT IN (SELECT rolname FROM pg_roles))
    UNION ALL
    SELECT 5, g.id, 'Refused', format('attributes.%s: the database has %s, which cannot change; create another database', key,
        CASE key WHEN 'locale' THEN c.datcollate ELSE pg_encoding_to_char(c.encoding) END)
    FROM given g JOIN pg_database c ON c.oid = g.oid AND g.what = 'database'
    WHERE key = 'locale' AND replace(lower(value), '-', '') <> replace(lower(c.datcollate), '-', '')
        OR key = 'encoding' AND octet_length(value) < 64 AND pg_char_to_encoding(value::name) <> c.encoding
    UNION ALL
    SELECT 6, id, 'Refused', format('owner: %s is reserved or has rights of a superuser; choose another owner', owner)
    FROM live WHERE octet_length(owner) > 63 OR owner ~ '^(pg|dbc)_' OR owner IN (SELECT name FROM mighty UNION SELECT name FROM accounts)
        AND NOT EXISTS (SELECT FROM live u WHERE u.what = 'user' AND u.own AND u.acts AND u.name = live.owner)
    UNION ALL
    SELECT 6, id, 'Refused', format('owner: the database of spec.bootstrap belongs to %s; set that or none', current_setting('dbc.owner'))
    FROM live WHERE what = 'database' AND name = current_setting('dbc.database') AND owner NOT IN ('', current_setting('dbc.owner'))
    UNION ALL
    SELECT 6, id, 'Failed', 'authentication: the primary does not ask clients for certificates yet; members do so after their next start'
    FROM live WHERE certificate AND NOT EXISTS (
        SELECT FROM pg_hba_file_rules WHERE type = 'hostssl' AND user_name = ARRAY['+dbc_certificate'] AND auth_method = 'cert')
    UNION ALL
    SELECT 7, id, 'Failed', format('owner: %s does not exist; declare a DatabaseUser of this name, or correct it', owner)
    FROM live WHERE owner NOT IN (SELECT '' UNION ALL SELECT rolname FROM pg_roles UNION ALL SELECT name FROM live WHERE what = 'user')
    UNION ALL
    SELECT 8, id, 'Refused', format('databases.privileges: %s is unknown; known are connect, readOnly, readWrite, owner', privilege)
    FROM grants WHERE privilege NOT IN ('connect', 'readOnly', 'readWrite', 'owner')
    UNION ALL
    SELECT 8, g.id, 'Refused', format('databases.name: %s is reserved; name a database of applications', place)
    FROM grants g LEFT JOIN pg_database c ON c.datname = place WHERE place IN ('postgres', 'template0', 'template1') OR c.datistemplate
    UNION ALL
    SELECT 9, g.id, 'Refused',
        format('databases.privileges: owner of %s would be %s, which has rights of a superuser; change the owner first', place, p.owner)
    FROM grants g JOIN places p ON p.name = g.place WHERE privilege = 'owner' AND p.owner IN (SELECT name FROM mighty)
        AND NOT EXISTS (SELECT FROM live u WHERE u.what = 'user' AND u.own AND u.acts AND u.name = p.owner)
    UNION ALL
    SELECT 9, id, 'Failed', format('databases.name: %s does not exist; declare a Database of this name, or correct it', place)
    FROM grants WHERE place NOT IN (SELECT datname FROM pg_database UNION ALL SELECT name FROM live WHERE what = 'database')
    UNION ALL
    SELECT 9, g.id, 'Failed', format('databases.name: %s accepts no connections', place)
    FROM grants g JOIN pg_database c ON c.datname = place WHERE NOT c.datallowconn OR c.datconnlimit = -2
    UNION ALL
    SELECT 9, id, 'Failed', format('%s accepts no connections; drop it if an interrupted DROP DATABASE left it', name)
    FROM live JOIN pg_database c USING (oid) WHERE what = 'database' AND (NOT c.datallowconn OR c.datconnlimit = -2)
    UNION ALL
    SELECT 10, id, 'Missing', 'it does not exist' FROM live WHERE mode = 'Check' AND oid IS NULL)
SELECT DISTINCT ON (id) id, kind, text FROM reasons ORDER BY id, n) AS refused \gset
SELECT set_config('dbc.said', :'said', false),
    set_config('dbc.records', concat(current_setting('dbc.records'), E'\n', :'said'), false) \g /dev/null
