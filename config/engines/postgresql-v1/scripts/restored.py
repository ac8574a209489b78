"""Makes restored data that of the cluster."""
import json

from common import DATA, adopt_database, create_replicator, env, set_passwords
from parameters import check, dynamic
from protection import lift
from server import run, server


def complete():
    """Starts a server, which recovers the data. Then the database has the roles and passwords of the cluster, and was stopped cleanly. A
    copy has no applications."""
    configuration = dynamic()
    check(configuration["postgresql"]["parameters"])
    with server(configuration["postgresql"]["parameters"]) as (database, _):
        lift(database)  # the backup may be of a protected database
        create_replicator(database)
        if env.get("DBC_COPY") == "true":
            set_passwords(database)
        else:
            adopt_database(database)
    with open(DATA + "/patroni.dynamic.json", "w", encoding="utf-8") as file:
        json.dump(configuration, file)
    run("sync", "-f", DATA)
