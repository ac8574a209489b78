-- Gives a new database its owner, its name and its mark, in one transaction. Only its users may connect.
SELECT set_config('dbc.plan', coalesce(json_agg(p), '[]')::text, false) FROM (
WITH :wanted,
new AS (
    SELECT d.*, CASE WHEN d.owner = '' THEN format('dbc_%s_owner_%s',
            left(lower(regexp_replace(d.name COLLATE "C", '[^A-Za-z0-9_]', '_', 'g')), 24), c.oid) ELSE d.owner END AS role,
        format('database.dbcluster.io/group=owner %s', c.oid) AS group_mark, c.oid AS new_oid
    FROM databases d JOIN pg_database c ON c.datname = :'new' WHERE d.id = :'id')
SELECT json_build_array(id) AS ids, true AS acts, 'created' AS change,
    CASE WHEN owner = '' THEN format('CREATE ROLE %1$I; COMMENT ON ROLE %1$I IS %2$L; ', role, group_mark) ELSE '' END
    || format('ALTER DATABASE %1$I OWNER TO %2$I; REVOKE ALL ON DATABASE %1$I FROM PUBLIC; ALTER DATABASE %1$I RENAME TO %3$I; '
        'CREATE ROLE %4$I; COMMENT ON ROLE %4$I IS %5$L', :'new', role, name, 'dbc_mark_' || new_oid, mark || ' incomplete') AS statement
FROM new) AS p \g /dev/null
:run;
SELECT current_setting('dbc.said');
