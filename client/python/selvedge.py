"""YARN applications from Python: clients of the ResourceManager, and ApplicationMasters.

Over libselvedge-client (<selvedge/client.h>) by ctypes; needs the library of SELVEDGE_API 4 and
nothing else. Single-threaded, as the library is: one Loop, one thread. Every failure is an Error
with the library's text.

    loop = selvedge.Loop()
    rm = selvedge.ResourceManager(loop)
    app = rm.submit(selvedge.Launch(argv=["./master.py"]), name="example")
    print(rm.wait(app).final)

An ApplicationMaster is a subclass of Master whose methods are its events; `run` returns when it has
finished. Callbacks run from the loop; what they raise comes out of the call that ran the loop."""
import ctypes
import os
import select
import typing
from ctypes import c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from dataclasses import dataclass, field

__all__ = [
    "Container",
    "ContainerReport",
    "Error",
    "File",
    "Launch",
    "Loop",
    "Master",
    "Node",
    "Report",
    "ResourceManager",
    "version",
]

# ---- The structures of <selvedge/client.h> ----

_Strings = ctypes.POINTER(c_char_p)


class _Handle(ctypes.Structure):
    _fields_ = [("id", c_uint64)]


class _Error(ctypes.Structure):
    _fields_ = [("code", c_int), ("text", ctypes.c_char * 1024)]


class _File(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("url", c_char_p),
        ("size", c_int64),
        ("timestamp_ms", c_int64),
        ("archive", c_int),
        ("visibility", c_int),
    ]


class _Resource(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64)]


class _Launch(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("command", c_char_p),
        ("files", ctypes.POINTER(_File)),
        ("n_files", c_size_t),
        ("env", _Strings),
        ("tokens", c_void_p),
        ("tokens_len", c_size_t),
        ("argv", _Strings),
    ]


class _Submission(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("queue", c_char_p),
        ("type", c_char_p),
        ("memory_mb", c_int64),
        ("vcores", c_int32),
        ("max_attempts", c_int32),
        ("lifetime_s", c_int64),
        ("launch", _Launch),
    ]


class _Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("tags", _Strings),
        ("view_acl", c_char_p),
        ("modify_acl", c_char_p),
        ("label", c_char_p),
        ("am_label", c_char_p),
        ("log_include", c_char_p),
        ("log_exclude", c_char_p),
        ("rolled_include", c_char_p),
        ("rolled_exclude", c_char_p),
        ("resources", ctypes.POINTER(_Resource)),
        ("n_resources", c_size_t),
        ("failure_validity_ms", c_int64),
        ("priority", c_int32),
        ("keep_containers", c_int),
    ]


class _Login(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("conf_dir", c_char_p),
        ("user", c_char_p),
        ("principal", c_char_p),
        ("keytab", c_char_p),
        ("cache", c_char_p),
    ]


class _Report(ctypes.Structure):
    _fields_ = [
        *((name, c_char_p) for name in "app attempt user queue name type state final".split()),
        ("diagnostics", c_char_p),
        ("tracking_url", c_char_p),
        ("start_ms", c_int64),
        ("finish_ms", c_int64),
        ("progress", c_double),
        ("memory_mb", c_int64),
        ("vcores", c_int32),
        ("containers", c_int32),
        ("ended", c_int),
    ]


class _ContainerReport(ctypes.Structure):
    _fields_ = [
        *((name, c_char_p) for name in "id node http_address state diagnostics log_url".split()),
        ("start_ms", c_int64),
        ("finish_ms", c_int64),
        ("exit_status", c_int32),
    ]


class _Container(ctypes.Structure):
    _fields_ = [
        ("id", c_char_p),
        ("node", c_char_p),
        ("http_address", c_char_p),
        ("memory_mb", c_int64),
        ("vcores", c_int32),
        ("priority", c_int32),
        ("request_id", c_int64),
        ("tags", _Strings),
        ("n_tags", c_size_t),
        ("resources", ctypes.POINTER(_Resource)),
        ("n_resources", c_size_t),
    ]


class _Node(ctypes.Structure):
    _fields_ = [
        ("node", c_char_p),
        ("rack", c_char_p),
        ("state", c_char_p),
        ("usable", c_int),
    ]


class _Place(ctypes.Structure):
    _fields_ = [("host", c_char_p), ("rack", c_char_p)]


class _Request(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("request_id", c_int64),
        ("priority", c_int32),
        ("memory_mb", c_int64),
        ("vcores", c_int32),
        ("count", c_int32),
        ("places", ctypes.POINTER(_Place)),
        ("n_places", c_size_t),
        ("strict", c_int),
        ("label", c_char_p),
        ("tags", _Strings),
        ("constraint", c_void_p),
        ("resources", ctypes.POINTER(_Resource)),
        ("n_resources", c_size_t),
    ]


def _function(*arguments: typing.Any) -> typing.Any:
    return ctypes.CFUNCTYPE(None, *arguments)


_SUBMITTED = _function(c_int, c_char_p, c_char_p, c_void_p)
_DONE = _function(c_int, c_char_p, c_void_p)
_REPORTS = _function(c_int, c_char_p, ctypes.POINTER(_Report), c_size_t, c_void_p)
_CONTAINERS = _function(c_int, c_char_p, ctypes.POINTER(_ContainerReport), c_size_t, c_void_p)
_LOG = _function(c_int, c_char_p, c_void_p, c_size_t, c_void_p)
_TOKENS = _LOG
# The events of a master, in the order of struct selvedge_am_ops, without handle and userdata.
_EVENTS = {
    "registered": (c_int64, c_int32),
    "allocated": (ctypes.POINTER(_Container),),
    "started": (c_char_p, c_int, c_char_p),
    "completed": (c_char_p, c_int32, c_char_p),
    "finished": (),
    "lost": (c_char_p,),
    "recovered": (ctypes.POINTER(_Container),),
    "rejected": (c_int64, c_int32, c_char_p),
    "updated": (ctypes.POINTER(_Container), c_int, c_char_p),
    "node": (ctypes.POINTER(_Node),),
    "resynced": (),
    "preempted": (c_char_p, c_int),
}
_EVENT_TYPES = {name: _function(_Handle, *kinds, c_void_p) for name, kinds in _EVENTS.items()}


class _Ops(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), *_EVENT_TYPES.items()]


_API = 4
_lib = ctypes.CDLL("libselvedge-client.so.1")
_SIGNATURES: dict[str, list[typing.Any]] = {
    "selvedge_loop_new": [c_void_p, ctypes.POINTER(_Handle)],
    "selvedge_loop_free": [_Handle],
    "selvedge_loop_fd": [_Handle],
    "selvedge_loop_dispatch": [_Handle],
    "selvedge_rm_open_as": [_Handle, c_void_p, ctypes.POINTER(_Handle), c_void_p],
    "selvedge_rm_close": [_Handle],
    "selvedge_rm_submit_with": [_Handle, c_void_p, c_void_p, _SUBMITTED, c_void_p],
    "selvedge_rm_report": [_Handle, c_char_p, _REPORTS, c_void_p],
    "selvedge_rm_wait": [_Handle, c_char_p, _REPORTS, c_void_p],
    "selvedge_rm_list": [_Handle, c_char_p, c_int, _REPORTS, c_void_p],
    "selvedge_rm_kill": [_Handle, c_char_p, c_char_p, _DONE, c_void_p],
    "selvedge_rm_set_priority": [_Handle, c_char_p, c_int32, _DONE, c_void_p],
    "selvedge_rm_containers": [_Handle, c_char_p, _CONTAINERS, c_void_p],
    "selvedge_rm_tokens": [_Handle, c_void_p, _TOKENS, c_void_p],
    "selvedge_rm_log": [_Handle, c_char_p, c_char_p, c_char_p, _LOG, c_void_p],
    "selvedge_am_open": [_Handle, c_char_p, c_void_p, c_void_p, ctypes.POINTER(_Handle), c_void_p],
    "selvedge_am_close": [_Handle],
    "selvedge_am_tokens": [_Handle, ctypes.POINTER(c_void_p), ctypes.POINTER(c_size_t)],
    "selvedge_am_register": [_Handle, c_char_p, c_int32, c_char_p],
    "selvedge_am_request": [_Handle, c_void_p, c_void_p],
    "selvedge_am_cancel": [_Handle, c_int32, c_int64],
    "selvedge_am_start": [_Handle, c_char_p, c_void_p],
    "selvedge_am_stop": [_Handle, c_char_p],
    "selvedge_am_release": [_Handle, c_char_p],
    "selvedge_am_update": [_Handle, c_char_p, c_int64, c_int32],
    "selvedge_am_blacklist": [_Handle, c_char_p, c_int],
    "selvedge_am_progress": [_Handle, c_double],
    "selvedge_am_finish": [_Handle, c_int, c_char_p],
}
try:
    _lib.selvedge_version.restype = c_char_p
    for _name, _arguments in _SIGNATURES.items():
        getattr(_lib, _name).argtypes = _arguments
except AttributeError as _error:
    raise ImportError(f"libselvedge-client.so.1 is older than SELVEDGE_API {_API}") from _error

# ---- Values ----


class Error(Exception):
    """`code` is an errno, negative as the library's."""

    def __init__(self, code: int, text: str = "") -> None:
        super().__init__(text or os.strerror(-code))
        self.code = code


@dataclass
class File:
    """A file that the node fetches before the launch. Size -1, for file: URLs: as it is now."""

    name: str
    url: str
    size: int = -1
    timestamp_ms: int = 0
    archive: bool = False
    visibility: int = 3  # 1: public, 2: private, 3: application


@dataclass
class Launch:
    """Of a container: either argv, a program and exactly these arguments whose output becomes the
    logs stdout and stderr, or command, a line that a shell expands first (<selvedge/client.h>)."""

    argv: typing.Sequence[str] = ()
    command: str | None = None
    files: typing.Sequence[File] = ()
    env: typing.Mapping[str, str] = field(default_factory=dict)
    tokens: bytes = b""


@dataclass(frozen=True)
class Report:
    """Of an application; times are milliseconds since 1970, 0: not yet."""

    app: str
    attempt: str
    user: str
    queue: str
    name: str
    type: str
    state: str
    final: str
    diagnostics: str
    tracking_url: str
    start_ms: int
    finish_ms: int
    progress: float
    memory_mb: int
    vcores: int
    containers: int
    ended: int


@dataclass(frozen=True)
class ContainerReport:
    """Of a container, as the ResourceManager tells it."""

    id: str
    node: str
    http_address: str
    state: str
    diagnostics: str
    log_url: str
    start_ms: int
    finish_ms: int
    exit_status: int


@dataclass(frozen=True)
class Container:
    """That a Master holds."""

    id: str
    node: str
    http_address: str
    memory_mb: int
    vcores: int
    priority: int
    request_id: int
    tags: tuple[str, ...]
    resources: dict[str, int]


@dataclass(frozen=True)
class Node:
    node: str
    rack: str
    state: str
    usable: bool


def version() -> str:
    """Of the library that runs."""
    return _text(_lib.selvedge_version())


# ---- Conversions ----


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


def _bytes(value: str | None) -> bytes | None:
    return None if value is None else value.encode()


def _content(where: int | None, size: int) -> bytes:
    return ctypes.string_at(where, size) if where else b""


def _strings(values: typing.Iterable[str] | None) -> typing.Any:
    """An array that NULL ends; None: NULL."""
    items = [v.encode() for v in values or ()]
    return (c_char_p * (len(items) + 1))(*items, None) if items else None


def _resources(values: typing.Mapping[str, int] | None) -> typing.Any:
    rows = [(name.encode(), value) for name, value in (values or {}).items()]
    return (_Resource * len(rows))(*rows)


def _values(kind: typing.Any, row: ctypes.Structure) -> typing.Any:
    """A dataclass of the members of its names."""
    found = {name: getattr(row, name) for name in kind.__dataclass_fields__}
    return kind(
        **{k: _text(v) if isinstance(v, bytes) or v is None else v for k, v in found.items()}
    )


def _container(row: typing.Any) -> Container:
    c = row.contents
    return Container(
        _text(c.id),
        _text(c.node),
        _text(c.http_address),
        c.memory_mb,
        c.vcores,
        c.priority,
        c.request_id,
        tuple(_text(c.tags[i]) for i in range(c.n_tags)),
        {_text(c.resources[i].name): c.resources[i].value for i in range(c.n_resources)},
    )


def _launch(launch: Launch) -> _Launch:
    files = (_File * len(launch.files))(
        *(
            _File(f.name.encode(), f.url.encode(), f.size, f.timestamp_ms, f.archive, f.visibility)
            for f in launch.files
        )
    )
    return _Launch(
        ctypes.sizeof(_Launch),
        _bytes(launch.command),
        files,
        len(files),
        ctypes.cast(_strings(f"{k}={v}" for k, v in launch.env.items()), _Strings),
        ctypes.cast(c_char_p(launch.tokens or None), c_void_p),
        len(launch.tokens),
        ctypes.cast(_strings(launch.argv), _Strings),
    )


def _check(result: int, error: "_Error | None" = None) -> int:
    if result < 0:
        raise Error(result, _text(error.text) if error else "")
    return result


# ---- The loop ----


class Loop:
    """Events of the library. Another loop watches fileno() and calls dispatch()."""

    def __init__(self) -> None:
        self._handle = _Handle()
        self._raised: BaseException | None = None
        _check(_lib.selvedge_loop_new(None, ctypes.byref(self._handle)))

    def fileno(self) -> int:
        return _check(_lib.selvedge_loop_fd(self._handle))

    def dispatch(self) -> bool:
        """Does what there is to do, without blocking; True: call it again at once."""
        again = _check(_lib.selvedge_loop_dispatch(self._handle)) > 0
        if self._raised:
            raised, self._raised = self._raised, None
            raise raised
        return again

    def run_until(self, done: typing.Callable[[], bool]) -> None:
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        while not done():
            if not self.dispatch() and not done():
                poll.poll()

    def guard(self, function: typing.Callable[..., None]) -> typing.Callable[..., None]:
        """For a callback: what it raises comes out of dispatch()."""

        def call(*arguments: typing.Any) -> None:
            try:
                function(*arguments)
            except BaseException as error:  # pylint: disable=broad-except
                self._raised = self._raised or error

        return call


class _Pending:
    """A request until its callback."""

    def __init__(self) -> None:
        self.ended, self.status, self.why, self.value = False, 0, "", None

    def end(self, status: int, why: bytes, value: typing.Any = None) -> None:
        self.ended, self.status, self.why, self.value = True, status, _text(why), value


# ---- A client of the ResourceManager ----


class ResourceManager:
    """Its methods wait for the answer, and run the loop meanwhile. `conf_dir` None:
    $HADOOP_CONF_DIR, or /etc/hadoop/conf; `user` None: the process' own. In a cluster with Kerberos
    the caller is who its token or ticket says; `principal` with `keytab`, or with a `cache`, are
    others than kinit's."""

    def __init__(
        self,
        loop: Loop,
        conf_dir: str | None = None,
        user: str | None = None,
        principal: str | None = None,
        keytab: str | None = None,
        cache: str | None = None,
    ) -> None:
        self.loop = loop
        self._handle = _Handle()
        error = _Error()
        words = (_bytes(text) for text in (conf_dir, user, principal, keytab, cache))
        login = _Login(ctypes.sizeof(_Login), *words)
        _check(
            _lib.selvedge_rm_open_as(
                loop._handle,
                ctypes.byref(login),
                ctypes.byref(self._handle),
                ctypes.byref(error),
            ),
            error,
        )

    def close(self) -> None:
        _check(_lib.selvedge_rm_close(self._handle))

    def _ask(
        self,
        kind: typing.Any,
        convert: typing.Callable[..., typing.Any],
        function: typing.Any,
        *arguments: typing.Any,
    ) -> typing.Any:
        pending = _Pending()

        def answer(status: int, why: bytes, *rest: typing.Any) -> None:
            pending.end(status, why, convert(*rest[:-1]) if status >= 0 else None)

        callback = kind(self.loop.guard(answer))
        _check(function(self._handle, *arguments, callback, None))
        self.loop.run_until(lambda: pending.ended)
        if pending.status < 0:
            raise Error(pending.status, pending.why)
        return pending.value

    def submit(
        self,
        launch: Launch,
        *,
        name: str | None = None,
        queue: str | None = None,
        type: str | None = None,  # pylint: disable=redefined-builtin
        memory_mb: int = 1024,
        vcores: int = 1,
        resources: typing.Mapping[str, int] | None = None,
        max_attempts: int = 0,
        lifetime_s: int = 0,
        tags: typing.Sequence[str] = (),
        priority: int = 0,
        keep_containers: bool = False,
        failure_validity_ms: int = 0,
        view_acl: str | None = None,
        modify_acl: str | None = None,
        label: str | None = None,
        am_label: str | None = None,
    ) -> str:
        """Submits an application whose master is this launch; its id."""
        more = _resources(resources)
        options = _Options(
            struct_size=ctypes.sizeof(_Options),
            tags=ctypes.cast(_strings(tags), _Strings),
            view_acl=_bytes(view_acl),
            modify_acl=_bytes(modify_acl),
            label=_bytes(label),
            am_label=_bytes(am_label),
            resources=more,
            n_resources=len(more),
            failure_validity_ms=failure_validity_ms,
            priority=priority,
            keep_containers=keep_containers,
        )
        submission = _Submission(
            ctypes.sizeof(_Submission),
            _bytes(name),
            _bytes(queue),
            _bytes(type),
            memory_mb,
            vcores,
            max_attempts,
            lifetime_s,
            _launch(launch),
        )
        return self._ask(
            _SUBMITTED,
            _text,
            _lib.selvedge_rm_submit_with,
            ctypes.byref(submission),
            ctypes.byref(options),
        )

    def _reports(self, function: typing.Any, *arguments: typing.Any) -> list[Report]:
        return self._ask(
            _REPORTS,
            lambda rows, n: [_values(Report, rows[i]) for i in range(n)],
            function,
            *arguments,
        )

    def report(self, app: str) -> Report:
        return self._reports(_lib.selvedge_rm_report, app.encode())[0]

    def wait(self, app: str) -> Report:
        """Until the application has ended."""
        return self._reports(_lib.selvedge_rm_wait, app.encode())[0]

    def list(self, user: str | None = None, live: bool = False) -> "list[Report]":
        return self._reports(_lib.selvedge_rm_list, _bytes(user), live)

    def kill(self, app: str, reason: str | None = None) -> None:
        self._ask(_DONE, lambda: None, _lib.selvedge_rm_kill, app.encode(), _bytes(reason))

    def set_priority(self, app: str, priority: int) -> None:
        self._ask(_DONE, lambda: None, _lib.selvedge_rm_set_priority, app.encode(), priority)

    def containers(self, app: str) -> "list[ContainerReport]":
        """Of the latest attempt, as the ResourceManager lists them."""
        return self._ask(
            _CONTAINERS,
            lambda rows, n: [_values(ContainerReport, rows[i]) for i in range(n)],
            _lib.selvedge_rm_containers,
            app.encode(),
        )

    def tokens(self, urls: typing.Iterable[str] = ("/",)) -> bytes:
        """For the `tokens` of a job's Launch, in a cluster with Kerberos: of the HDFS file systems
        of the urls ("/": fs.defaultFS), of the ResourceManager for "yarn:"; empty without."""
        return self._ask(_TOKENS, _content, _lib.selvedge_rm_tokens, _strings(urls))

    def log(self, container: str, name: str = "stdout", http_address: str | None = None) -> bytes:
        """Of a container, from its node: the first 16 MiB. `http_address`: the node's; else as the
        ResourceManager lists the container."""
        return self._ask(
            _LOG,
            ctypes.string_at,
            _lib.selvedge_rm_log,
            container.encode(),
            _bytes(http_address),
            name.encode(),
        )


# ---- An ApplicationMaster ----


class Master:
    """In a YARN container. Events are methods to override; `schedulers` None:
    $SELVEDGE_SCHEDULERS, which ResourceManager.submit() sets."""

    def __init__(self, loop: Loop, schedulers: str | None = None) -> None:
        self.loop = loop
        self._handle = _Handle()
        self._over = False
        error = _Error()
        callbacks = {name: self._event(name) for name in _EVENTS}
        self._ops = _Ops(struct_size=ctypes.sizeof(_Ops), **callbacks)
        _check(
            _lib.selvedge_am_open(
                loop._handle,
                _bytes(schedulers),
                ctypes.byref(self._ops),
                None,
                ctypes.byref(self._handle),
                ctypes.byref(error),
            ),
            error,
        )

    def _event(self, name: str) -> typing.Any:
        """The callback of one event; none for those that the subclass leaves alone."""
        own = getattr(type(self), name) is not getattr(Master, name)
        if not own and name not in ("finished", "lost"):
            return _EVENT_TYPES[name]()

        def call(_handle: _Handle, *arguments: typing.Any) -> None:
            if name in ("finished", "lost"):
                self._over = True
            getattr(self, name)(*(self._argument(a) for a in arguments[:-1]))

        return _EVENT_TYPES[name](self.loop.guard(call))

    @staticmethod
    def _argument(value: typing.Any) -> typing.Any:
        if isinstance(value, bytes):
            return _text(value)
        if isinstance(value, ctypes.POINTER(_Container)):
            return _container(value)
        if isinstance(value, ctypes.POINTER(_Node)):
            n = value.contents
            return Node(_text(n.node), _text(n.rack), _text(n.state), bool(n.usable))
        return value

    def run(self) -> None:
        """Until finished() or lost()."""
        self.loop.run_until(lambda: self._over)

    # Events

    def registered(self, memory_mb: int, vcores: int) -> None:
        """The largest container that can be requested."""

    def allocated(self, container: Container) -> None:
        """Start it, or release it."""

    def started(self, container: str, status: int, why: str) -> None:
        """The node has accepted it (0) or not."""

    def completed(self, container: str, exit_status: int, diagnostics: str) -> None:
        """Once a container."""

    def finished(self) -> None:
        """Unregistered: the program may end."""

    def lost(self, why: str) -> None:
        """The ResourceManager has ended this attempt."""
        raise Error(-103, why)  # ECONNABORTED

    def recovered(self, container: Container) -> None:
        """Of an earlier attempt, of an application that keeps its containers."""

    def rejected(self, request_id: int, count: int, why: str) -> None:
        """A request with tags that the ResourceManager gave up."""

    def updated(self, container: Container, status: int, why: str) -> None:
        """The end of update()."""

    def node(self, node: Node) -> None:
        """A node has changed."""

    def resynced(self) -> None:
        """The ResourceManager had restarted; nothing needs to be done."""

    def preempted(self, container: str, strict: int) -> None:
        """The ResourceManager wants it back: save its work."""

    # Calls

    def close(self) -> None:
        _check(_lib.selvedge_am_close(self._handle))

    @property
    def tokens(self) -> bytes:
        """The job's, for the `tokens` of its containers' Launch."""
        where, size = c_void_p(), c_size_t()
        _check(_lib.selvedge_am_tokens(self._handle, ctypes.byref(where), ctypes.byref(size)))
        return _content(where.value, size.value)

    def register(self, host: str = "", port: int = -1, tracking_url: str = "") -> None:
        _check(_lib.selvedge_am_register(self._handle, host.encode(), port, tracking_url.encode()))

    def request(
        self,
        count: int,
        *,
        memory_mb: int = 1024,
        vcores: int = 1,
        resources: typing.Mapping[str, int] | None = None,
        priority: int = 0,
        request_id: int = -1,
        hosts: typing.Sequence[str] = (),
        strict: bool = False,
        label: str | None = None,
        tags: typing.Sequence[str] = (),
    ) -> None:
        """`count` containers beyond those already allocated; replaces the earlier request of this
        priority and id."""
        more = _resources(resources)
        places = (_Place * len(hosts))(*((host.encode(), None) for host in hosts))
        error = _Error()
        request = _Request(
            struct_size=ctypes.sizeof(_Request),
            request_id=request_id,
            priority=priority,
            memory_mb=memory_mb,
            vcores=vcores,
            count=count,
            places=places,
            n_places=len(places),
            strict=strict,
            label=_bytes(label),
            tags=ctypes.cast(_strings(tags), _Strings),
            resources=more,
            n_resources=len(more),
        )
        _check(
            _lib.selvedge_am_request(self._handle, ctypes.byref(request), ctypes.byref(error)),
            error,
        )

    def cancel(self, priority: int = 0, request_id: int = -1) -> None:
        _check(_lib.selvedge_am_cancel(self._handle, priority, request_id))

    def start(self, container: str, launch: Launch) -> None:
        _check(
            _lib.selvedge_am_start(self._handle, container.encode(), ctypes.byref(_launch(launch)))
        )

    def stop(self, container: str) -> None:
        _check(_lib.selvedge_am_stop(self._handle, container.encode()))

    def release(self, container: str) -> None:
        _check(_lib.selvedge_am_release(self._handle, container.encode()))

    def update(self, container: str, memory_mb: int, vcores: int) -> None:
        _check(_lib.selvedge_am_update(self._handle, container.encode(), memory_mb, vcores))

    def blacklist(self, host: str, on: bool = True) -> None:
        _check(_lib.selvedge_am_blacklist(self._handle, host.encode(), on))

    def progress(self, share: float) -> None:
        _check(_lib.selvedge_am_progress(self._handle, share))

    def finish(self, success: bool, diagnostics: str = "") -> None:
        _check(_lib.selvedge_am_finish(self._handle, success, diagnostics.encode()))
