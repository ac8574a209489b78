#!/usr/bin/python3
"""Prints the rows of restored data, as WRITER FIRST-LAST. It uses the scripts of the engine, in a pod of an action."""
import sys

sys.path.insert(0, "/dbc/scripts")

import psycopg2

from common import env, query
from parameters import dynamic
from server import server

ROWS = """
    SELECT writer, min(number) || '-' || max(number) FROM (
        SELECT writer, number, number - row_number() OVER (PARTITION BY writer ORDER BY number) AS island FROM written) AS numbers
    GROUP BY writer, island ORDER BY writer, min(number)"""

with server(dynamic()["postgresql"]["parameters"]) as (_, folder):
    application = psycopg2.connect(host=folder, port=env["DBC_PORT"], user="postgres", dbname=env["DBC_DATABASE"])
    if query(application, "SELECT to_regclass('written')")[0][0]:
        for row in query(application, ROWS):
            print(*row)
    application.close()
