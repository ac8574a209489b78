-- Gives the objects of removed users in this database to its owner, and drops their privileges.
DO $$
BEGIN -- a session ends soon after it was told to
    FOR i IN 1..100 LOOP
        PERFORM pg_stat_clear_snapshot();
        EXIT WHEN NOT EXISTS (
            SELECT FROM pg_stat_activity a JOIN pg_authid r ON r.oid = a.usesysid
            WHERE NOT r.rolcanlogin AND a.datname = current_database());
        PERFORM pg_sleep(0.1);
    END LOOP;
END
$$;
SELECT set_config('dbc.plan', coalesce(json_agg(p), '[]')::text, false) FROM (
WITH :wanted
SELECT json_build_array(l.id) AS ids, true AS acts, NULL AS change,
    format('REASSIGN OWNED BY %I TO %I; DROP OWNED BY %1$I', l.name, CASE WHEN p.super THEN r.role ELSE p.has END) AS statement
FROM removed l JOIN places p ON p.name = current_database() JOIN place_groups r ON r.place = p.oid AND r.privilege = 'owner'
    AND r.role NOT IN (SELECT name FROM strange)
WHERE l.what = 'user' AND EXISTS (
    SELECT FROM pg_shdepend s WHERE s.refclassid = 'pg_authid'::regclass AND s.refobjid = l.oid AND s.dbid = p.oid)) AS p \g /dev/null
:run;
SELECT current_setting('dbc.said');
