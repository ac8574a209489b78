"""Replication connections of PostgreSQL, by its own library: psycopg2 reports positions as flushed that the program did not."""
import ctypes
import select
import struct
import time

SEGMENT = 16 << 20
# The server counts microseconds since 2000.
EPOCH = 946684800
POINTER = ctypes.c_void_p
COPY_BOTH = 8
CONNECTION = {"user": "replicator", "dbname": "replication", "replication": "true", "application_name": "archive", "connect_timeout": "5",
              "tcp_user_timeout": "10000", "keepalives_idle": "5", "keepalives_interval": "2", "keepalives_count": "3"}
libpq = ctypes.CDLL("libpq.so.5")
for name, result, arguments in (
        ("PQconnectdbParams", POINTER, (POINTER, POINTER, ctypes.c_int)), ("PQstatus", ctypes.c_int, (POINTER,)),
        ("PQerrorMessage", ctypes.c_char_p, (POINTER,)), ("PQhost", ctypes.c_char_p, (POINTER,)), ("PQport", ctypes.c_char_p, (POINTER,)),
        ("PQfinish", None, (POINTER,)),
        ("PQexec", POINTER, (POINTER, ctypes.c_char_p)), ("PQresultStatus", ctypes.c_int, (POINTER,)),
        ("PQresultErrorMessage", ctypes.c_char_p, (POINTER,)), ("PQresultErrorField", ctypes.c_char_p, (POINTER, ctypes.c_int)),
        ("PQgetvalue", POINTER, (POINTER, ctypes.c_int, ctypes.c_int)),
        ("PQgetlength", ctypes.c_int, (POINTER, ctypes.c_int, ctypes.c_int)), ("PQntuples", ctypes.c_int, (POINTER,)),
        ("PQnfields", ctypes.c_int, (POINTER,)), ("PQclear", None, (POINTER,)), ("PQsocket", ctypes.c_int, (POINTER,)),
        ("PQconsumeInput", ctypes.c_int, (POINTER,)), ("PQgetCopyData", ctypes.c_int, (POINTER, ctypes.POINTER(POINTER), ctypes.c_int)),
        ("PQfreemem", None, (POINTER,)), ("PQputCopyData", ctypes.c_int, (POINTER, ctypes.c_char_p, ctypes.c_int)),
        ("PQflush", ctypes.c_int, (POINTER,)), ("PQgetResult", POINTER, (POINTER,)),
        ("PQsetnonblocking", ctypes.c_int, (POINTER, ctypes.c_int))):
    function = getattr(libpq, name)
    function.restype, function.argtypes = result, arguments


# The code of an error: a file, here a segment, does not exist.
REMOVED = "58P01"


class Refused(Exception):
    """What the server, or the connection to it, says, with the code of an error."""

    def __init__(self, text, code=""):
        super().__init__(text)
        self.code = code


def position(text):
    high, low = text.split("/")
    return (int(high, 16) << 32) + int(low, 16)


def show(at):
    return "%X/%X" % (at >> 32, at & 0xFFFFFFFF)


def segment(timeline, at):
    """Returns the name of the file that has a position."""
    number = at // SEGMENT
    return "%08X%08X%08X" % (timeline, number >> 8, number & 0xFF)


def place(name, offset):
    """Returns the timeline and the position of an offset in a file."""
    return int(name[:8], 16), ((int(name[8:16], 16) << 8) + int(name[16:], 16)) * SEGMENT + offset


def code(result):
    return ((result and libpq.PQresultErrorField(result, ord("C"))) or b"").decode()


class Server:
    """A connection. Its settings are those of libpq."""

    def __init__(self, **settings):
        settings = {**CONNECTION, **settings}
        keys, values = ((ctypes.c_char_p * (len(settings) + 1))(*(word.encode() for word in words), None) for words in (settings, settings.values()))
        self.connection = libpq.PQconnectdbParams(keys, values, 0)
        if libpq.PQstatus(self.connection):
            reason = self.error()
            self.close()
            raise Refused(reason)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        libpq.PQfinish(self.connection)
        self.connection = None

    def error(self):
        return " ".join(libpq.PQerrorMessage(self.connection).decode(errors="replace").split())

    def address(self):
        return {"host": libpq.PQhost(self.connection).decode(), "port": libpq.PQport(self.connection).decode()}

    def ask(self, command, wants=(1, 2)):
        """Returns the rows, as lists of bytes; None for a value that is NULL or empty."""
        result = libpq.PQexec(self.connection, command.encode())
        try:
            if libpq.PQresultStatus(result) not in wants:
                raise Refused(" ".join(libpq.PQresultErrorMessage(result).decode(errors="replace").split()) or self.error(), code(result))
            return [[ctypes.string_at(libpq.PQgetvalue(result, row, column), libpq.PQgetlength(result, row, column)) or None
                     for column in range(libpq.PQnfields(result))] for row in range(libpq.PQntuples(result))]
        finally:
            libpq.PQclear(result)

    def history(self, timeline):
        """Returns the history file of a timeline, and its ancestors with their ends, oldest first."""
        content = self.ask("TIMELINE_HISTORY %d" % timeline)[0][1] or b""
        lines = [line.split() for line in content.decode(errors="replace").splitlines()]
        return content, [(int(words[0]), position(words[1])) for words in lines if words and words[0].isdecimal()]

    def start(self, at, timeline, slot=""):
        self.ask("START_REPLICATION %s PHYSICAL %s TIMELINE %d" % (slot and "SLOT " + slot, show(at), timeline), (COPY_BOTH,))
        libpq.PQsetnonblocking(self.connection, 1)
        return libpq.PQsocket(self.connection)

    def read(self):
        """Reads what has arrived."""
        if not libpq.PQconsumeInput(self.connection):
            raise Refused(self.error())

    def message(self):
        """Returns the next message; None if it has not arrived."""
        buffer = POINTER()
        size = libpq.PQgetCopyData(self.connection, ctypes.byref(buffer), 1)
        if size > 0:
            try:
                return ctypes.string_at(buffer, size)
            finally:
                libpq.PQfreemem(buffer)
        if size == 0:
            return None
        result = libpq.PQgetResult(self.connection)
        reason = libpq.PQresultErrorMessage(result).decode(errors="replace") if result else ""
        raise Refused("the stream ended: " + (" ".join(reason.split()) or self.error() or "no reason"), code(result))

    def log(self, at, size, timeline):
        """Yields so many bytes of the log."""
        socket, silent = self.start(at, timeline), time.monotonic()
        while size:
            while size and (message := self.message()):
                silent = time.monotonic()
                if message[:1] == b"w":
                    part = memoryview(message)[25:25 + size]
                    size -= len(part)
                    yield part
            if size:  # the library may have read what arrived
                select.select([socket], [], [], 0.25)
                self.read()
            if time.monotonic() - silent > 5:
                raise Refused("the server does not send its log")

    def report(self, received, flushed):
        """Tells the server what was received, and what it may forget."""
        now = int((time.time() - EPOCH) * 1000000)
        message = b"r" + struct.pack("!QQQqB", max(received, flushed), flushed, flushed, now, 0)
        if libpq.PQputCopyData(self.connection, message, len(message)) != 1 or libpq.PQflush(self.connection) < 0:
            raise Refused(self.error())
