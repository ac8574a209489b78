-- Removes the settings of the script protect, where they are.
SELECT unnest(ARRAY[
    'ALTER ROLE ALL RESET default_transaction_read_only',
    'ALTER ROLE ALL RESET dbc.protected',
    'ALTER ROLE CURRENT_USER RESET default_transaction_read_only'])
WHERE EXISTS (SELECT FROM pg_db_role_setting
    WHERE setdatabase = 0 AND setrole = 0 AND 'dbc.protected=on' = ANY (setconfig)) \gexec
