-- Removes users without objects, completes the marks of new objects, and prints a line for each object.
SELECT set_config('dbc.plan', coalesce(json_agg(p), '[]')::text, false) FROM (
WITH :wanted
SELECT json_build_array(id) AS ids, true AS acts, 'removed' AS change, format('DROP OWNED BY %1$I; DROP ROLE %1$I', name) AS statement
FROM removed WHERE what = 'user'
UNION ALL
SELECT json_build_array(id), true, 'created',
    format('COMMENT ON ROLE %I IS %L', bearer, replace(has, ' incomplete', ''))
FROM objects WHERE own AND has LIKE mark || ' incomplete%' AND mode <> 'Remove' AND NOT stopped) AS p \g /dev/null
:run;
WITH :wanted,
results AS (
    SELECT o.id, o.mode, o.oid IS NOT NULL AND NOT o.own AND o.mode = 'Remove' AS other,
        (SELECT kind FROM records r WHERE r.id = o.id AND kind NOT IN ('change', 'drift')
            ORDER BY kind <> 'Refused', kind <> 'Exists' LIMIT 1) AS stop,
        EXISTS (SELECT FROM records r WHERE r.id = o.id AND kind = 'drift') AS drifted,
        EXISTS (SELECT FROM records r WHERE r.id = o.id AND kind = 'change' AND text = 'created') AS made
    FROM objects o),
messages AS (
    SELECT r.id, CASE WHEN stop = 'Missing' THEN 'Drifted' WHEN stop IS NOT NULL THEN stop WHEN drifted THEN 'Drifted'
            WHEN made THEN 'Created' ELSE 'Done' END AS result,
        coalesce((
            SELECT string_agg(text, '; ' ORDER BY first) FROM (
                SELECT text, min(n) AS first FROM (SELECT *, row_number() OVER () AS n FROM records) AS o
                WHERE o.id = r.id AND text IS NOT NULL AND kind = coalesce(stop, CASE WHEN drifted THEN 'drift' ELSE 'change' END)
                GROUP BY text) AS texts), CASE WHEN other THEN 'kept: this object did not create it' END) AS message
    FROM results r)
SELECT json_build_object('id', id, 'result', result, 'message',
    CASE WHEN length(message) > 300 THEN left(message, 297) || '...' ELSE message END)
FROM (SELECT id, result, btrim(regexp_replace(coalesce(message, ''), '[\s[:cntrl:]]+', ' ', 'g')) AS message FROM messages) AS m;
