import contextlib
import os
import runpy
import socket
import types
import unittest
import unittest.mock

import container

with unittest.mock.patch("ctypes.CDLL"):  # the library of PostgreSQL is not needed
    ARCHIVE = runpy.run_path(os.path.join(container.SCRIPTS, "archive"), run_name="archive")


class Log(unittest.TestCase):
    """An archive that follows a server."""

    def pauses(self, waits):
        """Returns how often the archive waits for more after a small message, if the connection has such bytes that it has not read."""
        archive = ARCHIVE["Archive"].__new__(ARCHIVE["Archive"])
        archive.frames, archive.sent, archive.have, archive.parts, archive.gathered = types.SimpleNamespace(size=0, put=lambda *_: None), 0, 0, [], 0
        archive.system, archive.timeline, archive.total = "1", 1, None
        messages = [b"w" + bytes(24) + b"x" * 100, None]
        server = types.SimpleNamespace(read=lambda: None, message=lambda: messages.pop(0))
        ours, theirs = socket.socketpair()
        with contextlib.closing(ours), contextlib.closing(theirs), unittest.mock.patch("time.sleep") as sleep:
            theirs.sendall(waits)
            archive.read(server, ours, None)
        self.assertEqual(archive.sent, 100)
        return sleep.call_count

    # The library reads one large message at a time, so an archive that waited after each one could not catch up.
    def test_it_waits_for_more_only_if_nothing_has_arrived(self):
        self.assertEqual((self.pauses(b""), self.pauses(b"more")), (1, 0))
