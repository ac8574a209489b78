-- Prints what is on the volume of a server, as JSON. It changes nothing. The setting dbc.cluster has the name of the cluster, with which the
-- slots of its members begin.
WITH log AS (
    SELECT coalesce(sum(size), 0)::bigint AS bytes FROM pg_ls_waldir()
), spills AS (
    SELECT path, (pg_stat_file(path, true)).* FROM pg_ls_dir('base/pgsql_tmp', true, false) name, concat('base/pgsql_tmp/', name) path
), folders AS MATERIALIZED ( -- of parallel queries
    SELECT path FROM spills WHERE isdir
), tables AS (
    SELECT coalesce(sum((pg_stat_file(format('base/%s/%s', oid, name), true)).size), 0)::bigint AS bytes
    FROM pg_database, pg_ls_dir('base/' || oid, true, false) name WHERE name ~ '^t[0-9]+_'
), temporary AS (
    SELECT (tables.bytes
        + coalesce((SELECT sum(size) FROM spills WHERE NOT isdir), 0)
        + coalesce((SELECT sum((pg_stat_file(path || '/' || name, true)).size) FROM folders, pg_ls_dir(path, true, false) name), 0))::bigint AS bytes
    FROM tables
), slots AS (
    SELECT slot_name::text AS name, restart_lsn::text AS begins,
        pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, restart_lsn) AS bytes,
        CASE WHEN slot_name = 'dbc_archive' THEN 'Archive'
            WHEN slot_type = 'physical' AND slot_name ~ ('^' || translate(current_setting('dbc.cluster'), '-.', '__') || '_[0-9]+$') THEN 'Member'
            ELSE 'Slot' END AS type
    FROM pg_replication_slots WHERE restart_lsn IS NOT NULL
), waiting AS ( -- segments that archive_command has not stored
    SELECT min(name) AS begins, count(*) * pg_size_bytes(current_setting('wal_segment_size')) AS bytes
    FROM pg_ls_archive_statusdir() WHERE name LIKE '%.ready' AND current_setting('archive_mode') <> 'off'
), keepers AS (
    SELECT type, name, begins, bytes FROM slots UNION ALL SELECT 'Archive', NULL, begins, bytes FROM waiting
), kept AS ( -- most of the log, and more than is usual
    SELECT type, begins, CASE type WHEN 'Slot' THEN name WHEN 'Member' THEN current_setting('dbc.cluster') || '-' || substring(name FROM '[0-9]+$') END AS name
    FROM keepers, log
    WHERE keepers.bytes * 2 > log.bytes AND keepers.bytes > greatest(64 << 20, pg_size_bytes(current_setting('wal_keep_size')))
    ORDER BY keepers.bytes DESC LIMIT 1
)
SELECT json_strip_nulls(json_build_object(
    'data', (SELECT sum(pg_database_size(oid))::bigint FROM pg_database) - tables.bytes, 'log', log.bytes, 'temporary', temporary.bytes,
    'keptFor', (SELECT json_build_object('type', type, 'name', name, 'from', begins) FROM kept)))::text
FROM log, tables, temporary
