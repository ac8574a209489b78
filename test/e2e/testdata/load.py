import json
import os
import threading
import time

import psycopg2

password = open("/binding/password").read()
seen = {"commits": 0, "poolErrors": 0, "replicaErrors": 0, "age": 0.0}
lock = threading.Lock()
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
            print(time.strftime("%X"), host, "ERROR", " ".join(str(error).split())[:200])
            with lock: seen[errors] += 1
            connection = None
            time.sleep(0.2)
def write(cursor):
    cursor.execute("INSERT INTO written VALUES (extract(epoch FROM clock_timestamp()))")
    with lock: seen["commits"] += 1
    time.sleep(0.05)
def ask(cursor):
    cursor.execute("SELECT 1")
    time.sleep(0.001)
def read(cursor):
    cursor.execute("SELECT extract(epoch FROM clock_timestamp()) - max(at) FROM written")
    age = float(cursor.fetchone()[0])
    with lock: seen["age"] = max(seen["age"], age)
    cursor.execute("SELECT sum(sqrt(i)) FROM generate_series(1, 50000) i")
    cursor.fetchall()
rows = 2 * [("pool", "poolErrors", True, write)] + 6 * [("pool", "poolErrors", False, ask)] + 6 * [("ledger-replicas", "replicaErrors", False, read)]
threads = [threading.Thread(target=client, args=row) for row in rows]
for one in threads: one.start()
while any(one.is_alive() for one in threads):
    with lock:
        text = json.dumps(seen)
        seen["age"] = 0.0
    with open("/tmp/next", "w") as file: file.write(text)
    os.rename("/tmp/next", "/tmp/seen")
    time.sleep(4)
print("SEEN", json.dumps(seen))
