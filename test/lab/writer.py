#!/usr/bin/python3
"""Writes numbered rows to a database: writer.py NAME HOSTS PACE CONNECT PATIENCE.

Records each acknowledged number, its time, the server and the server's timeline in /acked/NAME, which is outside the database, and
each error in /acked/NAME-errors. PACE is the time between two rows, CONNECT that for a connection and for the acknowledgment of a
packet, PATIENCE that for an answer, in seconds. After an error it connects again, and writes the next number. A row without an answer
may exist or not. It ends its work when /acked/stop exists.
"""
import os
import select
import sys
import time

import psycopg2
from psycopg2 import extensions

SERVER = "SELECT host(inet_server_addr()) || ' ' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
name, hosts = sys.argv[1:3]
pace, connecting, patience = map(float, sys.argv[3:])


def wait(connection):
    """Waits for an answer, but not for a server that is frozen: its kernel still acknowledges packets."""
    deadline = time.monotonic() + patience
    while True:
        state = connection.poll()
        if state == extensions.POLL_OK:
            return
        left = deadline - time.monotonic()
        reads = [connection] if state == extensions.POLL_READ else []
        writes = [connection] if state == extensions.POLL_WRITE else []
        if left <= 0 or not any(select.select(reads, writes, [], left)):
            raise psycopg2.OperationalError("no answer within %d seconds" % patience)


def connect():
    """Returns a connection that accepts writes, and its server."""
    extensions.set_wait_callback(None)  # libpq tries all hosts
    with open("/dbc/secrets/owner-password", encoding="utf-8") as file:
        password = file.read().strip()
    connection = psycopg2.connect(host=hosts, port=5432, dbname="app", user="app", password=password, connect_timeout=int(connecting),
                                  target_session_attrs="read-write", tcp_user_timeout=int(1000 * connecting))
    connection.autocommit = True
    extensions.set_wait_callback(wait)
    cursor = connection.cursor()
    cursor.execute(SERVER)
    return connection, cursor, cursor.fetchone()[0]


def write(records, errors):
    number, connection = 0, None
    while not os.path.exists("/acked/stop"):
        try:
            if connection is None:
                connection, cursor, server = connect()
                cursor.execute("CREATE TABLE IF NOT EXISTS written (writer text, number bigint, PRIMARY KEY (writer, number))")
            number += 1
            cursor.execute("INSERT INTO written VALUES (%s, %s)", (name, number))
            records.write("%d %.3f %s\n" % (number, time.time(), server))
            time.sleep(pace)
        except psycopg2.Error as error:
            print("%.3f %s" % (time.time(), " ".join(str(error).split())), file=errors)
            if connection:
                connection.close()
            connection = None
            time.sleep(0.05)


with (open("/acked/" + name, "a", buffering=1, encoding="utf-8") as acked,
      open("/acked/" + name + "-errors", "a", buffering=1, encoding="utf-8") as failed):
    write(acked, failed)
with open("/acked/stopped", "w", encoding="utf-8"):
    pass
while True:
    time.sleep(3600)  # the file exists as long as the pod
