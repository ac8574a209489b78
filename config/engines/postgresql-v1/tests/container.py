"""What the tests share: the scripts as modules in the environment of a cluster, without a server and its driver."""
import contextlib
import io
import json
import os
import re
import runpy
import sys
import types
import unittest.mock

sys.dont_write_bytecode = True  # otherwise scripts/ gets a folder, which is no script
FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRIPTS = os.path.join(FOLDER, "scripts")
sys.path.insert(0, SCRIPTS)


class Error(Exception):
    pgcode = None


class OperationalError(Error):
    pass


sys.modules["psycopg2"] = types.SimpleNamespace(Error=Error, OperationalError=OperationalError, connect=None)
sys.modules["psycopg2.extensions"] = unittest.mock.MagicMock()
sys.modules["psycopg2.sql"] = unittest.mock.MagicMock()


def defaults():
    """Returns the parameters of a cluster that sets none, from engine.yaml."""
    with open(os.path.join(FOLDER, "engine.yaml"), encoding="utf-8") as file:
        found = re.findall(r"(?m)^    - name: (\S+)\n(?:      .*\n)*?      default: (.*)$", file.read())
    return {name: json.loads(value) if value.startswith('"') else value for name, value in found}


def environment(replicas=3, parameters=None, **others):
    """Replaces the variables of the container."""
    return unittest.mock.patch.dict(os.environ, {
        "DBC_DATA_DIR": "/nonexistent", "DBC_SECRETS_DIR": "/nonexistent", "DBC_PORT": "5432", "DBC_REPLICAS": str(replicas),
        "DBC_PARAMETERS": json.dumps({**defaults(), **(parameters or {})}), **others})


def run(work, *arguments):
    """Runs a function, or the script of a name. Returns the exit code, and the text for the log."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            if isinstance(work, str):
                runpy.run_path(os.path.join(SCRIPTS, work), run_name="__main__")
            else:
                work(*arguments)
            code = 0
        except SystemExit as end:
            code = end.code
    return code, said.getvalue()


environment().start()  # for the imports of the tests
