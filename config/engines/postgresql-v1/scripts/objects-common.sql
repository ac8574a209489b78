-- What the parts of the action objects share. A temporary table or function would be a write, so the parts use settings of the session, and
-- texts of SQL in variables of psql.
\set document `cat "$DBC_WORK/document"`
\set records `cat "$DBC_WORK/records"`
\set owner `printf %s "$DBC_OWNER"`
\set database `printf %s "$DBC_DATABASE"`
SELECT set_config('dbc.document', :'document', false), set_config('dbc.records', :'records', false), set_config('dbc.said', '', false),
    set_config('dbc.owner', :'owner', false), set_config('dbc.database', :'database', false) \g /dev/null
-- The server may still execute a statement of a client that was killed. Any user can take this lock, and must not stop the action by it.
SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a USING (pid) JOIN pg_authid r ON r.oid = a.usesysid
WHERE l.locktype = 'advisory' AND NOT r.rolsuper
    AND l.classid::bigint << 32 | l.objid::bigint = 4995142087184830980 \g /dev/null
SELECT pg_advisory_lock(4995142087184830980) \g /dev/null

-- Queries of the document and the catalog, for WITH.
SELECT $sql$
records AS (
    SELECT r->>'id' AS id, r->>'kind' AS kind, r->>'text' AS text
    FROM regexp_split_to_table(current_setting('dbc.records'), '\n') AS line, LATERAL (SELECT nullif(line, '')::json) AS one(r)
    WHERE r IS NOT NULL),
stopped AS (SELECT DISTINCT id FROM records WHERE kind IN ('Refused', 'Exists', 'Failed', 'Missing')),
document AS (
    SELECT CASE json_typeof(text->'databases') WHEN 'array' THEN text->'databases' ELSE '[]' END AS databases,
        CASE json_typeof(text->'users') WHEN 'array' THEN text->'users' ELSE '[]' END AS users
    FROM CAST(current_setting('dbc.document') AS json) AS one(text)),
listed AS (
    SELECT 'database' AS what, d.* FROM document, json_to_recordset(document.databases) AS d(
        id text, name text, mode text, adopt boolean, attributes json, owner text, databases json, "passwordFile" text,
        authentication text)
    UNION ALL
    SELECT 'user', u.* FROM document, json_to_recordset(document.users) AS u(
        id text, name text, mode text, adopt boolean, attributes json, owner text, databases json, "passwordFile" text,
        authentication text)),
marked AS (
    SELECT l.what, l.id, l.name, coalesce(l.mode, 'Apply') AS mode, coalesce(l.adopt, false) AS adopt, coalesce(l.owner, '') AS owner,
        CASE json_typeof(l.attributes) WHEN 'object' THEN l.attributes ELSE '{}' END AS attributes,
        CASE json_typeof(l.databases) WHEN 'array' THEN l.databases ELSE '[]' END AS databases,
        l."passwordFile" AS file, coalesce(l.authentication, '') = 'Certificate' AS certificate,
        e.oid, 'database.dbcluster.io/id=' || l.id AS mark, e.mark AS has
    FROM listed l LEFT JOIN (
        SELECT 'user' AS what, rolname AS name, oid, shobj_description(oid, 'pg_authid') AS mark FROM pg_authid
        UNION ALL
        SELECT 'database', datname, d.oid, shobj_description(r.oid, 'pg_authid')
        FROM pg_database d LEFT JOIN pg_authid r ON r.rolname = 'dbc_mark_' || d.oid) e ON e.what = l.what AND e.name = l.name),
-- The mark of a database is the comment of a role of its own: the owner of a database can change the comment of that. Until everything of
-- a new object is there, its mark has a suffix: the mode Check completes it, too. That of a user has another one for its password.
objects AS (
    SELECT m.*, CASE what WHEN 'user' THEN name ELSE 'dbc_mark_' || oid END AS bearer, coalesce(has = mark OR has LIKE mark || ' %', false) AS own,
        mode = 'Apply' OR coalesce(has LIKE mark || ' incomplete%', false) AS acts,
        EXISTS (SELECT FROM stopped s WHERE s.id = m.id) AS stopped
    FROM marked m),
databases AS (SELECT * FROM objects WHERE what = 'database' AND mode <> 'Remove' AND NOT stopped),
users AS (SELECT * FROM objects WHERE what = 'user' AND mode <> 'Remove' AND NOT stopped),
removed AS (SELECT * FROM objects WHERE mode = 'Remove' AND own AND NOT stopped),
-- Roles that are, or can become by SET ROLE, more powerful than applications may be.
mighty AS MATERIALIZED (
    SELECT DISTINCT a.rolname AS name, a.oid
    FROM pg_authid s JOIN pg_authid a ON pg_has_role(a.oid, s.oid, 'MEMBER')
    WHERE s.rolsuper OR s.rolreplication OR s.rolcreaterole OR s.rolbypassrls
        OR s.rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files')),
-- Roles with a name of this action that it has not created.
strange AS (
    SELECT rolname AS name FROM pg_authid
    WHERE rolname ~ '^dbc_' AND coalesce(shobj_description(oid, 'pg_authid'), '') NOT LIKE 'database.dbcluster.io/%'),
-- The databases of the server, with the role that owns their objects, and the prefix of the names of their group roles.
places AS (
    SELECT c.oid, c.datname AS name, c.datacl, coalesce(nullif(d.owner, ''), o.rolname) AS owner, o.rolname AS has, o.rolsuper AS super,
        'dbc_' || left(lower(regexp_replace(c.datname::text COLLATE "C", '[^A-Za-z0-9_]', '_', 'g')), 24) AS prefix
    FROM pg_database c JOIN pg_authid o ON o.oid = c.datdba LEFT JOIN databases d ON d.name = c.datname),
place_groups AS (
    SELECT p.oid AS place, p.name, p.owner, privilege, prefix || '_' || lower(privilege) || '_' || p.oid AS role,
        format('database.dbcluster.io/group=%s %s', privilege, p.oid) AS mark
    FROM places p, unnest(ARRAY['connect', 'readOnly', 'readWrite', 'owner']) AS privilege),
grants AS (
    SELECT u.id, u.name, u.acts, g->>'name' AS place, privilege
    FROM users u, json_array_elements(u.databases) AS g,
        json_array_elements_text(CASE json_typeof(g->'privileges') WHEN 'array' THEN g->'privileges' ELSE '[]' END) AS privilege),
-- What users are members of. Group roles of the server's own roles exist so that a membership is known to be of this action.
declared_members AS (
    SELECT g.id, g.name, g.acts, r.role, r.mark, r.place, r.privilege, r.owner, format('%s on %s', g.privilege, g.place) AS text
    FROM grants g JOIN place_groups r ON r.name = g.place AND r.privilege = g.privilege
    WHERE g.privilege <> 'owner' OR g.name <> r.owner
    UNION
    SELECT u.id, u.name, u.acts, 'dbc_member_' || m, 'database.dbcluster.io/group=member ' || m, NULL, 'member', m, 'membership in ' || m
    FROM users u, regexp_split_to_table(btrim(u.attributes->>'memberOf'), '\s*,\s*') AS m WHERE m <> ''
    UNION
    SELECT u.id, u.name, u.acts, 'dbc_certificate', 'database.dbcluster.io/group=certificate', NULL, 'certificate', NULL, 'login by certificate'
    FROM users u WHERE u.certificate),
-- A member of a user with a certificate is a member of its group, too. So the server would accept only a certificate of that role.
shared AS (
    SELECT r.rolname AS name FROM pg_auth_members m JOIN pg_authid r ON r.oid = m.roleid
    UNION SELECT owner FROM declared_members WHERE privilege = 'owner'),
-- Memberships that would give a user more than was declared, or take something from others.
barred AS (
    SELECT id, role, CASE
        WHEN role IN (SELECT name FROM strange) THEN format('the role %s is not of this action; rename it', role)
        WHEN privilege = 'owner' AND owner = current_setting('dbc.owner') THEN
            format('databases.privileges: owner of the database would be %s, the account of spec.bootstrap; choose readWrite', owner)
        WHEN privilege = 'owner' AND owner IN (SELECT name FROM mighty) THEN
            format('databases.privileges: owner of the database would be %s, which has rights of a superuser; change the owner first', owner)
        WHEN role IN (SELECT name FROM mighty) THEN format('the role %s has rights of a superuser; revoke them', role)
        WHEN name IN (SELECT name FROM mighty) THEN
            format('authentication: %s has rights of a superuser, so a certificate is not enough; revoke them', name)
        ELSE format('authentication: other roles are members of %s, so they would need a certificate, too; revoke that, or let another '
            'user own the database', name) END AS text
    FROM declared_members
    WHERE role IN (SELECT name FROM strange UNION SELECT name FROM mighty)
        OR privilege = 'certificate' AND name IN (SELECT name FROM mighty UNION SELECT name FROM shared)
        OR privilege = 'owner' AND owner IN (SELECT name FROM mighty UNION SELECT current_setting('dbc.owner'))),
members AS (SELECT * FROM declared_members d WHERE NOT EXISTS (SELECT FROM barred b WHERE b.id = d.id AND b.role = d.role)),
-- The group roles, and for whom they are changed: if a user in the mode Apply has one, others that are only checked need no report.
groups AS (
    SELECT role, mark, place, privilege, owner, bool_or(acts) AS acts,
        json_agg(DISTINCT id) FILTER (WHERE acts) AS acting, json_agg(DISTINCT id) AS all_ids
    FROM members GROUP BY role, mark, place, privilege, owner),
existing_groups AS (
    SELECT g.*, CASE WHEN g.acts THEN acting ELSE all_ids END AS ids, r.oid
    FROM groups g LEFT JOIN pg_authid r ON r.rolname = g.role AND shobj_description(r.oid, 'pg_authid') = g.mark)
$sql$ AS wanted \gset

-- Executes the statements of a plan, and records what was done, what differs, and what failed. One that fails does not stop the others.
SELECT $sql$
DO $do$
DECLARE
    step json;
    kind text;
    said text;
    detail text;
BEGIN
    FOR step IN SELECT value FROM json_array_elements(current_setting('dbc.plan')::json) LOOP
        IF (step->>'acts')::boolean THEN
            kind := 'change';
            said := step->>'change';
            BEGIN
                EXECUTE step->>'statement';
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                kind := 'Failed';
                said := concat_ws('; ', SQLERRM, nullif(detail, ''));
            END;
        ELSE
            kind := 'drift';
            said := step->>'drift';
        END IF;
        SELECT string_agg(json_build_object('id', id, 'kind', kind, 'text', said) || E'\n', '') INTO said
            FROM json_array_elements_text(step->'ids') AS id WHERE said IS NOT NULL;
        PERFORM set_config('dbc.said', current_setting('dbc.said') || coalesce(said, ''), false),
            set_config('dbc.records', concat(current_setting('dbc.records'), E'\n', said), false);
    END LOOP;
END
$do$
$sql$ AS run \gset
