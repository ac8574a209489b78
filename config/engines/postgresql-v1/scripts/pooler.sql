-- Creates the role of poolers and the function with which they look up a password, and takes back what others have changed of them. A run
-- that finds all of it writes nothing. It runs as the superuser, in the database postgres. Both engines of PostgreSQL have the same script.
DO $do$
DECLARE
    -- Accounts that a pooler never serves: superusers, roles that replicate, and those that can become one of them; roles of PostgreSQL and
    -- of the engine; roles without a password for SCRAM.
    body CONSTANT text := $body$
SELECT a.rolname::pg_catalog.text, a.rolpassword FROM pg_catalog.pg_authid a
WHERE a.rolname = wanted AND a.rolcanlogin AND a.rolpassword LIKE 'SCRAM-SHA-256$%' AND a.rolname !~ '^(pg|dbc)_'
    AND (a.rolvaliduntil IS NULL OR a.rolvaliduntil > pg_catalog.now())
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_authid s
        WHERE (s.rolsuper OR s.rolreplication) AND pg_catalog.pg_has_role(a.oid, s.oid, 'MEMBER'))
$body$;
    -- The role owns nothing. Each pod of a pooler has one connection of it, and for moments a second one: see the script pgbouncer.
    attributes CONSTANT text := 'LOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 300';
    statement text;
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true), -- users may have created operators elsewhere
        pg_catalog.set_config('client_min_messages', 'warning', true);
    IF NOT EXISTS (SELECT FROM pg_authid WHERE rolname = 'dbc_pooler') THEN
        EXECUTE 'CREATE ROLE dbc_pooler ' || attributes;
        COMMENT ON ROLE dbc_pooler IS 'database.dbcluster.io/pooler';
    ELSIF EXISTS (SELECT FROM pg_authid WHERE rolname = 'dbc_pooler' AND (
            NOT rolcanlogin OR rolinherit OR rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls OR rolconnlimit <> 300
            OR rolvaliduntil < 'infinity')) THEN
        EXECUTE 'ALTER ROLE dbc_pooler VALID UNTIL ''infinity'' ' || attributes;
    END IF;
    FOR statement IN
        SELECT format('REVOKE %I FROM %I', g.rolname, m.rolname)
        FROM pg_auth_members a JOIN pg_roles g ON g.oid = a.roleid JOIN pg_roles m ON m.oid = a.member
        WHERE 'dbc_pooler' IN (g.rolname, m.rolname)
    LOOP
        EXECUTE statement;
    END LOOP;
    IF NOT has_database_privilege('dbc_pooler', current_database(), 'CONNECT') THEN
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO dbc_pooler', current_database());
    END IF;

    IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'dbc_pooler') THEN
        CREATE SCHEMA dbc_pooler;
    ELSIF EXISTS (SELECT FROM pg_namespace n JOIN pg_roles o ON o.oid = n.nspowner
            WHERE nspname = 'dbc_pooler' AND NOT o.rolsuper) THEN
        EXECUTE format('ALTER SCHEMA dbc_pooler OWNER TO %I', current_user);
    END IF;
    IF NOT EXISTS (
            SELECT FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
                JOIN pg_roles o ON o.oid = p.proowner
            WHERE nspname = 'dbc_pooler' AND proname = 'login' AND prosrc = body AND prosecdef AND o.rolsuper
                AND proconfig = ARRAY['search_path=pg_catalog, pg_temp']) THEN
        DROP FUNCTION IF EXISTS dbc_pooler.login(name);
        EXECUTE format('CREATE FUNCTION dbc_pooler.login(wanted name, OUT name text, OUT password text) RETURNS SETOF record '
            'LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L', body);
    END IF;

    -- Only the owners and the role may use them, also if the superuser has default privileges for others.
    FOR statement IN
        SELECT format('REVOKE ALL ON %s FROM %s', what, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END)
        FROM (SELECT 'SCHEMA dbc_pooler' AS what, coalesce(nspacl, acldefault('n', nspowner)) AS acl, nspowner AS owner
            FROM pg_namespace WHERE nspname = 'dbc_pooler'
            UNION ALL
            SELECT 'FUNCTION dbc_pooler.login(name)', coalesce(proacl, acldefault('f', proowner)), proowner
            FROM pg_proc WHERE oid = 'dbc_pooler.login(name)'::regprocedure) AS things, aclexplode(acl) AS a
        WHERE a.grantee <> owner AND (a.grantee <> 'dbc_pooler'::regrole OR a.is_grantable OR a.privilege_type = 'CREATE')
        GROUP BY 1
    LOOP
        EXECUTE statement;
    END LOOP;
    IF NOT has_schema_privilege('dbc_pooler', 'dbc_pooler', 'USAGE') THEN
        GRANT USAGE ON SCHEMA dbc_pooler TO dbc_pooler;
    END IF;
    IF NOT has_function_privilege('dbc_pooler', 'dbc_pooler.login(name)', 'EXECUTE') THEN
        GRANT EXECUTE ON FUNCTION dbc_pooler.login(name) TO dbc_pooler;
    END IF;
END
$do$
