import os
import sys
import threading
import time
import urllib.request

import psycopg2

seen = {way: [0, 0, 0.0] for way in sys.argv[1:]}
lock = threading.Lock()
def connect(host):
    return psycopg2.connect(host=host, user="app", password=open("/binding/password").read(), dbname="app", connect_timeout=5)
class Writer:
    connection = None
    def __init__(self, way): self.way = way
    def act(self):
        try:
            self.connection = self.connection or connect(self.way)
            with self.connection, self.connection.cursor() as cursor:
                cursor.execute("INSERT INTO written VALUES (%s)", (self.way,))
        except psycopg2.Error:
            self.connection = None
            raise
class Visitor:
    def __init__(self, way): self.way = way
    def act(self): urllib.request.urlopen(self.way, timeout=5).read()
def use(way):
    client, last = (Visitor if way.startswith("http") else Writer)(way), time.monotonic()
    while not os.path.exists("/tmp/stop"):
        try:
            client.act()
            now = time.monotonic()
            with lock: seen[way][0], seen[way][2], last = seen[way][0] + 1, max(seen[way][2], now - last), now
        except (OSError, psycopg2.Error) as error:
            with lock:
                print(time.strftime("%H:%M:%S"), way, "ERROR", " ".join(str(error).split())[:150])
                seen[way][1] += 1
        time.sleep(0.05)
threads = [threading.Thread(target=use, args=(way,)) for way in seen for _ in range(3)]
for one in threads: one.start()
for one in threads: one.join()
for way, (successes, errors, gap) in seen.items(): print("SEEN", way, successes, errors, round(gap, 2))
