-- Creates and changes users.
\ir objects-judge.sql
\ir objects-passwords.sql
BEGIN; -- until the marks have the hashes of the passwords, no one can change these
SELECT set_config('dbc.plan', coalesce(json_agg(p ORDER BY n), '[]')::text, false) FROM (
WITH :wanted,
known AS (
    SELECT u.*, a.*, p.value->>'password' AS password, (p.value->>'same')::boolean AS same, u.oid IS NULL AS new,
        (attributes->>'connectionLimit')::int AS connections, (attributes->>'validUntil')::timestamptz AS until,
        (attributes->>'inherit')::boolean AS inherit
    FROM users u JOIN json_each(current_setting('dbc.passwords')::json) AS p ON p.key = u.id
        LEFT JOIN (SELECT oid AS role, rolcanlogin, rolinherit, rolconnlimit, rolvaliduntil, rolsuper, rolreplication, rolcreaterole,
            rolbypassrls FROM pg_authid) AS a ON a.role = u.oid),
options(turn, id, option, change, drift) AS (
    SELECT 1, id, format('PASSWORD %L', password), 'set the password', 'the password differs' FROM known WHERE NOT same
    UNION ALL
    SELECT 2, id, 'LOGIN', 'allowed logins', 'has NOLOGIN' FROM known WHERE new OR NOT rolcanlogin
    UNION ALL
    SELECT 3, id, format('CONNECTION LIMIT %s', connections), format('set connectionLimit %s', connections),
        format('connectionLimit is %s', rolconnlimit)
    FROM known WHERE connections IS DISTINCT FROM rolconnlimit AND connections IS NOT NULL
    UNION ALL
    SELECT 4, id, format('VALID UNTIL %L', until), format('set validUntil %s', until),
        format('validUntil is %s', coalesce(rolvaliduntil::text, 'not set'))
    FROM known WHERE until IS DISTINCT FROM rolvaliduntil AND until IS NOT NULL
    UNION ALL
    SELECT 5, id, CASE WHEN inherit THEN 'INHERIT' ELSE 'NOINHERIT' END, format('set inherit %s', inherit),
        format('inherit is %s', rolinherit)
    FROM known WHERE inherit IS DISTINCT FROM rolinherit AND inherit IS NOT NULL
    UNION ALL
    SELECT power_turn, id, 'NO' || power, 'removed ' || power, 'has ' || power
    FROM known, LATERAL (VALUES (6, 'SUPERUSER', rolsuper), (7, 'REPLICATION', rolreplication), (8, 'CREATEROLE', rolcreaterole),
        (9, 'BYPASSRLS', rolbypassrls)) AS powers(power_turn, power, has_it) WHERE has_it)
SELECT 1 AS n, json_build_array(id) AS ids, true AS acts, format('COMMENT ON ROLE %I IS %L', name, mark) AS statement,
    'adopted' AS change, '' AS drift
FROM known WHERE NOT new AND NOT own
UNION ALL
SELECT 2, json_build_array(id), k.acts,
    CASE WHEN k.new THEN format('CREATE ROLE %1$I %2$s; COMMENT ON ROLE %1$I IS %3$L', k.name, string_agg(o.option, ' '),
            k.mark || ' incomplete')
        ELSE format('ALTER ROLE %I %s', k.name, string_agg(o.option, ' ')) END,
    CASE WHEN k.new THEN 'created' ELSE string_agg(o.change, '; ' ORDER BY turn) END, string_agg(o.drift, '; ' ORDER BY turn)
FROM known k JOIN options o USING (id) GROUP BY k.id, k.acts, k.new, k.name, k.mark) AS p \g /dev/null
:run;
SELECT set_config('dbc.plan', coalesce(json_agg(p), '[]')::text, false) FROM (
WITH :wanted,
known AS (
    SELECT u.*, p.value->>'password' AS password,
        CASE WHEN (p.value->>'same')::boolean THEN p.value->>'verifier' ELSE a.rolpassword END AS verifier,
        sha256(convert_to(current_setting('dbc.key'), 'UTF8')) AS key
    FROM users u JOIN json_each(current_setting('dbc.passwords')::json) AS p ON p.key = u.id JOIN pg_authid a ON a.oid = u.oid
    WHERE u.acts OR (p.value->>'same')::boolean),
hashes AS (
    SELECT *, concat(CASE WHEN has LIKE mark || ' incomplete%' THEN mark || ' incomplete' ELSE mark END, ' password=',
        left(encode(sha256(key || sha256(key || convert_to(concat(verifier, ' ', password), 'UTF8'))), 'hex'), 32)) AS new
    FROM known)
SELECT json_build_array(id) AS ids, true AS acts, format('COMMENT ON ROLE %I IS %L', name, new) AS statement, NULL AS change
FROM hashes WHERE has IS DISTINCT FROM new) AS p \g /dev/null
:run;
COMMIT;
\set list `printf %s "$DBC_WORK/create"`
\o :list
WITH :wanted SELECT id FROM databases WHERE oid IS NULL;
\o
SELECT current_setting('dbc.said');
