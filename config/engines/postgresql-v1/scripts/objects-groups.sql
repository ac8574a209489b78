-- Changes databases, and what users are members of.
SELECT set_config('dbc.plan', coalesce(json_agg(p ORDER BY n), '[]')::text, false) FROM (
WITH :wanted,
-- Roles and settings that this action has given to users.
memberships AS (
    SELECT u.id, u.name, u.acts, g.rolname AS role, wanted AS inherit,
        coalesce((to_jsonb(m)->>'inherit_option')::boolean, wanted) AS inherits
    FROM users u JOIN pg_auth_members m ON m.member = u.oid JOIN pg_authid g ON g.oid = m.roleid,
        LATERAL (SELECT coalesce((u.attributes->>'inherit')::boolean, true)) AS one(wanted)
    WHERE shobj_description(g.oid, 'pg_authid') LIKE 'database.dbcluster.io/group=%'),
settings AS (
    SELECT u.id, u.name, u.acts, p.name AS place, p.oid, substring(setting FROM 6) AS role
    FROM users u JOIN pg_db_role_setting s ON s.setrole = u.oid JOIN places p ON p.oid = s.setdatabase, unnest(s.setconfig) AS setting
    WHERE setting LIKE 'role=%'),
owners AS (
    SELECT m.id, m.name, m.acts, m.place AS oid, p.name AS place, m.owner AS role
    FROM members m JOIN places p ON p.oid = m.place WHERE m.privilege = 'owner'),
steps(n, ids, acts, statement, change, drift) AS (
    SELECT 1, json_build_array(id), true,
        CASE WHEN bearer IN (SELECT rolname FROM pg_roles) THEN '' ELSE format('CREATE ROLE %I; ', bearer) END
            || format('COMMENT ON ROLE %I IS %L', bearer, mark), 'adopted', ''
    FROM databases WHERE oid IS NOT NULL AND NOT own
    UNION ALL
    SELECT 2, json_build_array(d.id), d.acts,
        format('ALTER DATABASE %I OWNER TO %I', d.name, d.owner)
            || coalesce('; REVOKE ' || quote_ident(p.has) || ' FROM ' || quote_ident(g.rolname), ''),
        format('set owner %s', d.owner), format('owner is %s', p.has)
    FROM databases d JOIN places p ON p.oid = d.oid JOIN place_groups r ON r.place = d.oid AND r.privilege = 'owner'
        LEFT JOIN pg_authid g ON g.rolname = r.role AND g.rolname <> p.has
            AND EXISTS (SELECT FROM pg_auth_members m JOIN pg_authid o ON o.oid = m.roleid WHERE m.member = g.oid AND o.rolname = p.has)
    WHERE d.owner NOT IN ('', p.has) AND d.owner NOT IN (SELECT name FROM mighty)
    UNION ALL
    SELECT 2, json_build_array(d.id), d.acts, format('ALTER DATABASE %I CONNECTION LIMIT %s', d.name, attributes->>'connectionLimit'),
        format('set connectionLimit %s', attributes->>'connectionLimit'), format('connectionLimit is %s', c.datconnlimit)
    FROM databases d JOIN pg_database c USING (oid) 
    WHERE CASE WHEN attributes->>'connectionLimit' ~ '^-?[0-9]{1,9}$' THEN (attributes->>'connectionLimit')::int <> c.datconnlimit END
    UNION ALL
    SELECT 3, json_build_array(id), acts, format('REVOKE %I FROM %I', role, name), format('revoked %s', role), format('has %s', role)
    FROM memberships m WHERE NOT EXISTS (SELECT FROM members w WHERE w.id = m.id AND w.role = m.role)
    UNION ALL
    SELECT 4, ids, acts, format('CREATE ROLE %1$I; COMMENT ON ROLE %1$I IS %2$L', role, mark), NULL, NULL
    FROM existing_groups WHERE oid IS NULL
    UNION ALL
    SELECT 5, g.ids, g.acts, format('GRANT %s ON DATABASE %I TO %I', need, p.name, g.role),
        CASE WHEN g.oid IS NOT NULL THEN format('granted %s on %s', need, p.name) END, format('%s lacks %s', g.role, need)
    FROM existing_groups g JOIN places p ON p.oid = g.place,
        unnest(CASE g.privilege WHEN 'readWrite' THEN ARRAY['CONNECT', 'TEMPORARY'] ELSE ARRAY['CONNECT'] END) AS need
    WHERE g.privilege <> 'owner' AND NOT EXISTS (SELECT FROM aclexplode(p.datacl) a WHERE a.grantee = g.oid AND a.privilege_type = need)
    UNION ALL
    SELECT 6, ids, acts, format('GRANT %I TO %I', owner, role), NULL, format('%s lacks %s', role, owner)
    FROM existing_groups g WHERE privilege IN ('owner', 'member') AND role <> owner AND NOT EXISTS (
        SELECT FROM pg_auth_members m JOIN pg_authid o ON o.oid = m.roleid WHERE m.member = g.oid AND o.rolname = g.owner)
    UNION ALL
    SELECT 7, json_build_array(w.id), w.acts, format('GRANT %I TO %I', w.role, w.name)
            || CASE WHEN h.id IS NULL THEN '' WHEN h.inherit THEN ' WITH INHERIT TRUE' ELSE ' WITH INHERIT FALSE' END,
        format('granted %s', w.text), format('lacks %s', w.text)
    FROM members w LEFT JOIN memberships h ON h.id = w.id AND h.role = w.role WHERE h.id IS NULL OR h.inherits <> h.inherit
    UNION ALL
    SELECT 8, json_build_array(w.id), w.acts, format('ALTER ROLE %I IN DATABASE %I SET role = %L', w.name, w.place, w.role),
        format('set role %s on %s', w.role, w.place), format('objects on %s would not belong to %s', w.place, w.role)
    FROM owners w WHERE NOT EXISTS (SELECT FROM settings s WHERE s.id = w.id AND s.oid = w.oid AND s.role = w.role)
    UNION ALL
    SELECT 8, json_build_array(s.id), s.acts, format('ALTER ROLE %I IN DATABASE %I RESET role', s.name, s.place),
        format('reset role on %s', s.place), format('has the role %s on %s', s.role, s.place)
    FROM settings s JOIN place_groups r ON r.place = s.oid AND r.privilege = 'owner'
        JOIN places p ON p.oid = s.oid
    WHERE s.role IN (r.role, r.owner, p.has) AND NOT EXISTS (SELECT FROM owners w WHERE w.id = s.id AND w.oid = s.oid))
SELECT * FROM steps) AS p \g /dev/null
:run;
-- A Database that was refused or failed after its users were judged.
WITH :wanted
SELECT json_build_object('id', id, 'kind', 'Failed', 'text', format('databases.name: %s does not exist', place))
FROM grants WHERE place NOT IN (SELECT name FROM places);
WITH :wanted
SELECT json_build_object('id', id, 'kind', 'Refused', 'text', text) FROM barred
UNION ALL
SELECT json_build_object('id', u.id, 'kind', CASE WHEN u.acts THEN 'Failed' ELSE 'drift' END, 'text',
    format('has rights of a superuser as a member of %s; revoke that', string_agg(g.name, ', ')))
FROM users u JOIN pg_auth_members m ON m.member = u.oid JOIN mighty g ON g.oid = m.roleid GROUP BY u.id, u.acts
UNION ALL
SELECT json_build_object('id', id, 'kind', 'Failed', 'text', format('owner: %s has rights of a superuser; revoke them', owner))
FROM databases WHERE owner IN (SELECT name FROM mighty);
-- The databases with something to do in them.
\set list `printf %s "$DBC_WORK/databases"`
\o :list
WITH :wanted, bytes AS (SELECT oid, name, convert_to(name, getdatabaseencoding()) AS octets FROM places)
SELECT string_agg(format('\0%s%s%s', b / 64, b / 8 % 8, b % 8), '' ORDER BY i)
FROM bytes, generate_series(0, octet_length(octets) - 1) AS i, LATERAL (SELECT get_byte(octets, i)) AS one(b)
WHERE name IN (SELECT place FROM grants WHERE privilege <> 'connect'
    UNION SELECT d.name FROM databases d WHERE concat(attributes->>'schemas', attributes->>'extensions') <> '')
GROUP BY oid;
\o
\set list `printf %s "$DBC_WORK/drop"`
\o :list
WITH :wanted SELECT id FROM removed WHERE what = 'database'
UNION SELECT id FROM objects JOIN pg_database ON datname = 'dbc-new-' || md5(id) WHERE what = 'database' AND mode = 'Remove';
\o
SELECT current_setting('dbc.said');
