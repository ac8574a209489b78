import json
import multiprocessing
import os
import time

import psycopg2

password = open("/binding/password").read()
seen = {"commits": multiprocessing.Value("q"), "poolErrors": multiprocessing.Value("q"), "replicaErrors": multiprocessing.Value("q"), "age": multiprocessing.Value("d")}
def count(what):
    with seen[what].get_lock(): seen[what].value += 1
def client(host, errors, always, work):
    connection, until = None, 0
    while not os.path.exists("/tmp/stop"):
        if not always and not os.path.exists("/tmp/load"):
            time.sleep(0.2)
            continue
        try:
            if connection is None or time.time() > until:
                if connection: connection.close()
                connection = psycopg2.connect(host=host, user="app", password=password, dbname="app", connect_timeout=5)
                connection.autocommit, until = True, time.time() + 5
            with connection.cursor() as cursor: work(cursor)
        except psycopg2.Error as error:
            print(time.strftime("%X"), host, "ERROR", " ".join(str(error).split())[:200], flush=True)
            count(errors)
            connection = None
            time.sleep(0.2)
def write(cursor):
    cursor.execute("INSERT INTO written VALUES (extract(epoch FROM clock_timestamp()))")
    count("commits")
    time.sleep(0.05)
def ask(cursor):
    cursor.execute("SELECT 1")
def read(cursor):
    cursor.execute("SELECT extract(epoch FROM clock_timestamp()) - max(at) FROM written")
    age = float(cursor.fetchone()[0])
    with seen["age"].get_lock(): seen["age"].value = max(seen["age"].value, age)
    cursor.execute("SELECT sum(sqrt(i)) FROM generate_series(1, 50000) i")
    cursor.fetchall()
    time.sleep(0.05) # so that the pooler has a part of the node, too
rows = 2 * [("pool", "poolErrors", True, write)] + 3 * [("pool", "poolErrors", False, ask)] + 4 * [("ledger-replicas", "replicaErrors", False, read)]
clients = [multiprocessing.Process(target=client, args=row) for row in rows]
for one in clients: one.start()
def text(): return json.dumps({what: value.value for what, value in seen.items()})
while any(one.is_alive() for one in clients):
    with seen["age"].get_lock():
        now = text()
        seen["age"].value = 0.0
    with open("/tmp/next", "w") as file: file.write(now)
    os.rename("/tmp/next", "/tmp/seen")
    time.sleep(4)
print("SEEN", text())
