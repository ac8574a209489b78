-- Ends the sessions of users that are removed, and lists the databases with objects of theirs. Roles of this action for databases that no
-- longer exist are dropped.
SELECT set_config('dbc.plan', coalesce(json_agg(p ORDER BY n), '[]')::text, false) FROM (
WITH :wanted,
leaving AS (SELECT id, name, oid FROM removed WHERE what = 'user'),
-- No superuser gets the objects: functions among them may run with the rights of their owner.
left_behind AS (
    SELECT l.id, l.name AS leaver, p.name, p.has, r.role, r.mark
    FROM leaving l JOIN places p ON p.has = l.name OR p.super AND EXISTS (
            SELECT FROM pg_shdepend s
            WHERE s.refclassid = 'pg_authid'::regclass AND s.refobjid = l.oid AND s.dbid = p.oid AND s.deptype = 'o')
        JOIN place_groups r ON r.place = p.oid AND r.privilege = 'owner' AND r.role NOT IN (SELECT name FROM strange))
SELECT 1 AS n, json_build_array(l.id) AS ids, true AS acts, format('ALTER ROLE %I NOLOGIN', l.name) AS statement, NULL AS change
FROM leaving l JOIN pg_authid a ON a.oid = l.oid WHERE a.rolcanlogin
UNION ALL
SELECT 2, json_agg(id), true, format('CREATE ROLE %1$I; COMMENT ON ROLE %1$I IS %2$L', role, mark), NULL
FROM left_behind WHERE role NOT IN (SELECT rolname FROM pg_authid) GROUP BY role, mark
UNION ALL
SELECT 3, json_build_array(id), true, format('REVOKE %I FROM %I; ALTER DATABASE %I OWNER TO %2$I', leaver, role, name), NULL
FROM left_behind WHERE has = leaver
UNION ALL
SELECT 4, '[]', true, format('DROP ROLE %I', rolname), NULL
FROM (SELECT rolname, coalesce(substring(mark FROM '^database\.dbcluster\.io/group=\w+ (\d+)$'),
        CASE WHEN mark LIKE 'database.dbcluster.io/id=%' THEN substring(rolname FROM '^dbc_mark_(\d+)$') END)::oid AS place
    FROM pg_authid, LATERAL (SELECT shobj_description(oid, 'pg_authid')) AS one(mark)) AS g
WHERE place NOT IN (SELECT oid FROM pg_database)) AS p \g /dev/null
:run;
WITH :wanted
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usesysid IN (SELECT oid FROM removed WHERE what = 'user') \g /dev/null
\set list `printf %s "$DBC_WORK/reassign"`
\o :list
WITH :wanted, bytes AS (SELECT oid, name, convert_to(name, getdatabaseencoding()) AS octets FROM places)
SELECT string_agg(format('\0%s%s%s', b / 64, b / 8 % 8, b % 8), '' ORDER BY i)
FROM bytes, generate_series(0, octet_length(octets) - 1) AS i, LATERAL (SELECT get_byte(octets, i)) AS one(b)
WHERE oid IN (SELECT c.oid FROM pg_database c WHERE c.datallowconn AND c.datconnlimit <> -2)
    AND oid IN (SELECT s.dbid FROM pg_shdepend s JOIN removed l ON l.oid = s.refobjid
    WHERE l.what = 'user' AND s.refclassid = 'pg_authid'::regclass)
GROUP BY oid;
\o
SELECT current_setting('dbc.said');
