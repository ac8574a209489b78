-- Records that the objects that need the database of the variable place have failed.
WITH :wanted
SELECT json_build_object('id', id, 'kind', 'Failed', 'text', format('the database %s refuses a change: %s', :'place', :'reason'))
FROM (
    SELECT id FROM grants WHERE grants.place = :'place'
    UNION SELECT id FROM databases WHERE name = :'place'
    UNION SELECT l.id FROM removed l JOIN pg_shdepend s ON s.refobjid = l.oid JOIN pg_database c ON c.oid = s.dbid
    WHERE l.what = 'user' AND s.refclassid = 'pg_authid'::regclass AND c.datname = :'place') AS needing;
