import os
import threading
import time

import psycopg2

password = open("/binding/password").read()
acknowledged, commits, errors, first = set(), {}, {}, {}
def runs(): return not os.path.exists("/tmp/stop")
def connect(): return psycopg2.connect(host="ledger", user="app", password=password, dbname="app", connect_timeout=5)
def repeat(pause, work, failed):
    connection = None
    while runs():
        try:
            connection = connection or connect()
            work(connection)
        except psycopg2.Error as error:
            failed(int(time.time()), " ".join(str(error).split())[:110])
            if connection: connection.close()
            connection = None
        time.sleep(pause)
def write(connection):
    write.number += 1
    number = write.number
    with connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO written VALUES (%s)", (number,))
    acknowledged.add(number)
    commits[int(time.time())] = commits.get(int(time.time()), 0) + 1
def refused(second, text):
    errors[second] = errors.get(second, 0) + 1
    first.setdefault(second, text)
def fill(connection):
    rate = int(open("/tmp/rate").read()) if os.path.exists("/tmp/rate") else 0
    passed, fill.at = min(time.time() - fill.at, 10), time.time()  # so that a slow machine fills the volume as fast
    if rate:
        with connection, connection.cursor() as cursor:
            cursor.execute("INSERT INTO bloat VALUES (%s)", (psycopg2.Binary(os.urandom(int(rate * 1024 * passed))),))
write.number, fill.at = 0, time.time()
threads = [threading.Thread(target=repeat, args=work) for work in [(0.1, write, refused), (1, fill, lambda second, text: None)]]
for one in threads: one.start()
second = int(time.time())
while runs():
    time.sleep(0.2)
    while second < int(time.time()) - 1:
        print("SECOND", second, commits.get(second, 0), errors.get(second, 0), first.get(second, ""))
        second += 1
for one in threads: one.join()
with connect().cursor() as cursor:
    cursor.execute("SELECT number FROM written")
    stored = {number for number, in cursor}
print("LOST", len(acknowledged - stored), "OF", len(acknowledged))
