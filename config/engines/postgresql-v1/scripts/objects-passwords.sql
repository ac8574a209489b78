-- Reads the passwords, and compares them with the verifiers of the server: SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey, see RFC 5802.
-- A login would compare them as well, but fails for other reasons, too. That takes some milliseconds for each. So the mark of a user has a
-- hash of both, for which one also needs the password of the superuser. An invalid value of one user does not stop the others.
\set files `printf %s "$DBC_WORK/files"`
\o :files
WITH :wanted SELECT id, file FROM users WHERE file IS NOT NULL;
\o
\set passwords `while IFS='|' read -r id file; do printf '=%s:' "$id"; od -An -v -tx1 "$file"; done < "$DBC_WORK/files"`
\set key `printf %s "$PGPASSWORD"`
SELECT set_config('dbc.passwords', :'passwords', false), set_config('dbc.key', :'key', false) \g /dev/null

SELECT $sql$
passwords AS (
    SELECT m[1] AS id, decode(regexp_replace(m[2], '\s', '', 'g'), 'hex') AS password
    FROM regexp_matches(current_setting('dbc.passwords'), '=([a-z0-9-]+):([0-9a-f\s]*)', 'g') AS m),
known AS (
    SELECT u.id, u.has, a.rolpassword AS verifier, u.attributes->>'validUntil' AS until, coalesce(p.password, '') AS password,
        v[1]::int AS iterations, decode(v[2], 'base64') AS salt, decode(v[3], 'base64') AS server_key
    FROM users u LEFT JOIN passwords p USING (id) LEFT JOIN pg_authid a ON a.oid = u.oid
        LEFT JOIN LATERAL regexp_match(a.rolpassword, '^SCRAM-SHA-256\$(\d+):([^$]+)\$[^:]+:(.+)$') AS v ON true)
$sql$ AS known \gset
SELECT set_config('dbc.plan', coalesce(json_agg(k), '[]')::text, false) FROM (WITH :wanted, :known SELECT * FROM known) AS k \g /dev/null

DO $do$
DECLARE
    known record;
    forms text[];
    form text;
    hashed bytea;
    inner_key bytea;
    outer_key bytea;
    step bytea;
    sum bit(256);
    hash text;
    key bytea := sha256(convert_to(current_setting('dbc.key'), 'UTF8'));
    same boolean;
    said text;
    result jsonb := '{}';
BEGIN
    FOR known IN SELECT * FROM json_to_recordset(current_setting('dbc.plan')::json) AS k(
            id text, has text, verifier text, until text, password bytea, iterations int, salt bytea, server_key bytea) LOOP
        same := false;
        form := NULL;
        BEGIN
            form := convert_from(known.password, 'UTF8');
            said := CASE WHEN form = '' THEN 'passwordFile: is empty or cannot be read'
                WHEN form ~ '^(md5[0-9a-f]{32}$|SCRAM-SHA-256\$\d+:)' THEN 'passwordFile: has the form of a hash; set a password' END;
            PERFORM known.until::timestamptz;
        EXCEPTION WHEN OTHERS THEN
            said := CASE WHEN form IS NULL THEN 'passwordFile: is not UTF-8'
                ELSE format('attributes.validUntil: %s is not a time such as 2030-12-31T23:59:59Z', known.until) END;
        END;
        IF said IS NOT NULL THEN
            said := json_build_object('id', known.id, 'kind', CASE WHEN form = '' THEN 'Failed' ELSE 'Refused' END, 'text', said);
            PERFORM set_config('dbc.said', concat(current_setting('dbc.said'), said, E'\n'), false),
                set_config('dbc.records', concat(current_setting('dbc.records'), E'\n', said), false);
            CONTINUE;
        END IF;
        -- The server hashes what SASLprep (RFC 4013) makes of a password. Of its steps, these are for passwords that people use.
        forms := ARRAY[form];
        IF form ~ '[^\x01-\x7f]' AND getdatabaseencoding() = 'UTF8' THEN
            forms := forms || normalize(form, NFKC) || normalize(regexp_replace(form, '[\u00a0\u2000-\u200b\u3000]', ' ', 'g'), NFKC);
        END IF;
        hash := left(encode(sha256(key || sha256(key || convert_to(concat(known.verifier, ' ', form), 'UTF8'))), 'hex'), 32);
        same := coalesce(known.has LIKE '% password=' || hash, false);
        FOREACH form IN ARRAY CASE WHEN known.server_key IS NULL THEN '{}' ELSE forms END LOOP
            CONTINUE WHEN same;
            hashed := convert_to(form, 'UTF8');
            IF octet_length(hashed) > 64 THEN
                hashed := sha256(hashed);
            END IF;
            SELECT string_agg(set_byte('\x00', 0, b # 54), '' ORDER BY i), string_agg(set_byte('\x00', 0, b # 92), '' ORDER BY i)
                INTO inner_key, outer_key
                FROM generate_series(0, 63) AS i,
                    LATERAL (SELECT CASE WHEN i < octet_length(hashed) THEN get_byte(hashed, i) ELSE 0 END) AS one(b);
            step := sha256(outer_key || sha256(inner_key || known.salt || '\x00000001'::bytea));
            sum := ('x' || encode(step, 'hex'))::bit(256);
            FOR i IN 2..known.iterations LOOP
                step := sha256(outer_key || sha256(inner_key || step));
                sum := sum # ('x' || encode(step, 'hex'))::bit(256);
            END LOOP;
            SELECT string_agg(set_byte('\x00', 0, b # 54), '' ORDER BY i), string_agg(set_byte('\x00', 0, b # 92), '' ORDER BY i)
                INTO inner_key, outer_key
                FROM generate_series(0, 63) AS i,
                    LATERAL (SELECT CASE WHEN i < 32 THEN substring(sum FROM 8 * i + 1 FOR 8)::bit(8)::int ELSE 0 END) AS one(b);
            same := known.server_key = sha256(outer_key || sha256(inner_key || convert_to('Server Key', 'UTF8')));
        END LOOP;
        result := result || jsonb_build_object(known.id, jsonb_build_object(
            'password', forms[1], 'same', same, 'verifier', known.verifier));
    END LOOP;
    PERFORM set_config('dbc.passwords', result::text, false);
END
$do$;
