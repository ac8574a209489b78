-- Creates what is declared in this database, and gives its groups of readers and writers their privileges, also on objects that its owners
-- create later. Objects of extensions keep the privileges that the extension has given them.
SELECT set_config('dbc.plan', coalesce(json_agg(p ORDER BY n, nth), '[]')::text, false) FROM (
WITH :wanted,
elements AS (
    SELECT d.id, d.acts, p.owner, key, btrim(element) AS element, nth
    FROM databases d JOIN places p ON p.oid = d.oid AND p.name = current_database(), json_each_text(d.attributes) AS a,
        regexp_split_to_table(value, ',') WITH ORDINALITY AS e(element, nth)
    WHERE key IN ('schemas', 'extensions') AND btrim(value) <> '')
SELECT 1 AS n, nth, json_build_array(id) AS ids, acts, format('CREATE SCHEMA %I AUTHORIZATION %I', element, owner) AS statement,
    format('created schema %s', element) AS change, format('lacks schema %s', element) AS drift
FROM elements WHERE key = 'schemas' AND element NOT IN (SELECT nspname FROM pg_namespace)
UNION ALL
SELECT 2, nth, json_build_array(id), acts,
    format('SET LOCAL search_path = public; CREATE EXTENSION %I; SET LOCAL search_path = pg_catalog', element),
    format('created extension %s', element), format('lacks extension %s', element)
FROM elements WHERE key = 'extensions' AND element NOT IN (SELECT extname FROM pg_extension)) AS p \g /dev/null
:run;
SELECT set_config('dbc.plan', coalesce(json_agg(p ORDER BY n), '[]')::text, false) FROM (
WITH :wanted,
here AS (SELECT * FROM existing_groups WHERE place = (SELECT oid FROM pg_database WHERE datname = current_database())),
rights(privilege, type, list) AS (VALUES
    ('readOnly', 'n', ARRAY['USAGE']), ('readOnly', 'r', ARRAY['SELECT']), ('readOnly', 'S', ARRAY['SELECT']),
    ('readWrite', 'n', ARRAY['USAGE']), ('readWrite', 'r', ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']),
    ('readWrite', 'S', ARRAY['SELECT', 'USAGE', 'UPDATE'])),
words(type, one, many) AS (VALUES ('n', 'SCHEMA', 'SCHEMAS'), ('r', 'TABLE', 'TABLES'), ('S', 'SEQUENCE', 'SEQUENCES')),
parts AS (SELECT objid, classid FROM pg_depend WHERE deptype = 'e'),
schemas AS (
    SELECT n.oid, nspname AS schema, nspacl FROM pg_namespace n
    WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
        AND (n.oid, 'pg_namespace'::regclass) NOT IN (SELECT objid, classid FROM parts)),
things AS (
    SELECT 'n' AS type, schema, format('%I', schema) AS name, nspacl AS acl FROM schemas
    UNION ALL
    SELECT CASE c.relkind WHEN 'S' THEN 'S' ELSE 'r' END, schema, format('%I.%I', schema, c.relname), c.relacl
    FROM pg_class c JOIN schemas s ON s.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND (c.oid, 'pg_class'::regclass) NOT IN (SELECT objid, classid FROM parts)),
lacking AS (
    SELECT g.*, type, schema, list, t.name
    FROM here g JOIN rights USING (privilege) JOIN things t USING (type)
    WHERE NOT list <@ ARRAY(SELECT a.privilege_type FROM aclexplode(t.acl) a WHERE a.grantee = g.oid)),
-- Who creates objects: the owner of the database, and users with its privileges who do not act as the owner.
creators AS (
    SELECT owner AS name FROM places WHERE name = current_database()
    UNION SELECT r.role FROM place_groups r JOIN pg_authid a ON a.rolname = r.role WHERE r.name = current_database() AND privilege = 'owner'
    UNION SELECT g.name FROM grants g WHERE g.place = current_database() AND privilege = 'owner'),
defaults AS (
    SELECT d.defaclrole, d.defaclobjtype AS type, a.grantee, a.privilege_type AS privilege
    FROM pg_default_acl d, aclexplode(d.defaclacl) a WHERE d.defaclnamespace = 0),
future AS (
    SELECT g.*, type, list, c.rolname AS creator
    FROM here g JOIN rights USING (privilege) JOIN pg_authid c ON c.rolname IN (SELECT name FROM creators)
    WHERE NOT list <@ ARRAY(
        SELECT d.privilege FROM defaults d WHERE d.defaclrole = c.oid AND d.type::text = rights.type AND d.grantee = g.oid))
SELECT 1 AS n, (json_agg(ids)->0) AS ids, acts,
    format('GRANT %s ON %s %s TO %I', array_to_string(list, ', '), one, string_agg(name, ', '), role) AS statement,
    CASE WHEN type <> 'n' THEN format('granted %s in schema %s (objects: %s)', privilege, schema, count(*)) END AS change,
    format('%s lacks %s in schema %s (objects: %s)', role, array_to_string(list, ', '), schema, count(*)) AS drift
FROM lacking JOIN words USING (type) GROUP BY role, privilege, acts, type, one, schema, list
UNION ALL
SELECT 2, ids, acts,
    format('ALTER DEFAULT PRIVILEGES FOR ROLE %I GRANT %s ON %s TO %I', creator, array_to_string(list, ', '), many, role),
    NULL, format('%s lacks default privileges of %s', role, creator)
FROM future JOIN words USING (type)
UNION ALL
-- Before PostgreSQL 15, the owner of a database may have no right to create tables in the schema public.
SELECT 3, json_build_array(d.id), d.acts, format('GRANT ALL ON SCHEMA public TO %I', p.owner), NULL,
    'the owner cannot create tables in public'
FROM databases d JOIN places p ON p.oid = d.oid AND p.name = current_database() JOIN pg_authid a ON a.rolname = p.owner, schemas s
WHERE s.schema = 'public' AND current_setting('server_version_num')::int < 150000
    AND NOT has_schema_privilege(a.oid, s.oid, 'CREATE')) AS p \g /dev/null
:run;
SELECT current_setting('dbc.said');
