#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the queries of a dashboard as recording rules, panel_ID_REF, with the row of one cluster. Run by `make verify`."""
import json
import sys

path, cluster = sys.argv[1:]
values = {"$namespace": ".*", "$cluster": cluster, "$__rate_interval": "5m"}


def queries(panels):
    for panel in panels:
        yield from queries(panel.get("panels", []))
        for target in panel.get("targets", []):
            query = target["expr"]
            for name, value in values.items():
                query = query.replace(name, value)
            yield f"panel_{panel['id']}_{target['refId']}", query


with open(path, encoding="utf-8") as file:
    dashboard = json.load(file)
rules = [{"record": name, "expr": query} for name, query in queries(dashboard["panels"])]
print(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}, indent=1))
