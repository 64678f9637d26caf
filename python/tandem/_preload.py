"""A template: a process that has imported what a program imports, computes nothing, and forks the program's trials.

Tandem starts it (src/runtime/local/templates.h) with the interpreter, its options, the environment and the folder of the
program. docs/preload.md says what a forked trial has in common with one that was started, and which templates are refused.
One thread, no dependencies. TANDEM_TEMPLATE is the number of its socket; on it, JSON, one object a line:

    Tandem   -> {"wanted": FILE}: {"script": "train.py", "modules": [["torch", "/.../torch/__init__.py"], ...], "environment": {...}}
    template -> {"ready": true} or {"refused": "why"}, after which Tandem ends it
    Tandem   -> {"arguments": [...], "environment": {...}, ...} and descriptors: output, errors, gate, status, socket
    template -> on `status` the numbers of the trial's keeper and of the trial; {"refused": "why"} where it forks none

A trial is forked by a process that becomes tandem-keeper (src/keeper), a child of Tandem. It waits at the gate as every
program does, and then is the script's process: what is below on its stack is two frames of this file.
"""

_fresh = dict(globals())  # as a script finds its own, but for file and docstring

import array
import atexit
import ctypes
import gc
import importlib
import importlib.machinery
import json
import logging
import os
import random
import re
import signal
import socket
import stat
import struct
import sys
import time
import traceback
import types
import weakref

LONGEST_LINE = 1 << 24
MOST_DESCRIPTORS = 16
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PARENT_GONE = signal.SIGUSR1  # as in platform/process_tree.cpp
# Callbacks of these at exit do nothing that a forked process should not do.
KNOWN_AT_EXIT = ("logging", "weakref", "multiprocessing", "concurrent", "torch", "numpy", "scipy", "sklearn", "joblib")
THREADING = re.compile(r"^(libgomp|libomp|libiomp5|libopenblas|libscipy_openblas|libmkl_rt|libblis)[-.\w]*\.so")
SETTERS = (  # of the number of threads, with the variables that say it, first one wins
    ("omp_set_num_threads", ("OMP_NUM_THREADS",)),
    ("openblas_set_num_threads", ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")),
    ("openblas_set_num_threads64_", ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")),
    ("scipy_openblas_set_num_threads", ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")),
    ("scipy_openblas_set_num_threads64_", ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")),
    ("MKL_Set_Num_Threads", ("MKL_NUM_THREADS", "OMP_NUM_THREADS")),
)


class Unfit(Exception):
    """Trials must start cold, and why."""


# ---- the wire ----


class Wire:
    def __init__(self, descriptor):
        self._socket = socket.socket(fileno=descriptor)
        self._socket.set_inheritable(False)
        self._pending = b""
        self._descriptors = []

    def send(self, message):
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            os._exit(0)  # Tandem is gone

    def receive(self):
        """A message with its descriptors; None: nobody speaks any more."""
        room = socket.CMSG_SPACE(MOST_DESCRIPTORS * array.array("i").itemsize)
        while b"\n" not in self._pending:
            try:
                piece, ancillary, _, _ = self._socket.recvmsg(1 << 16, room)
            except OSError:
                return None, []
            for level, kind, data in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    numbers = array.array("i")
                    numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
                    self._descriptors += numbers
            self._pending += piece
            if not piece or len(self._pending) > LONGEST_LINE:
                return None, []
        line, self._pending = self._pending.split(b"\n", 1)
        descriptors, self._descriptors = self._descriptors, []
        return json.loads(line), descriptors

    def close(self):
        self._socket.close()


# ---- importing, and what must not come of it ----


def identity(path):
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, 0 if stat.S_ISDIR(found.st_mode) else found.st_size


def open_descriptors():
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            os.fstat(int(name))
            found.add(int(name))
        except OSError:
            pass  # the list's own
    return found


def mapped():
    """Files in this process' memory, and whether some of its memory is shared with others."""
    files, shared = set(), False
    with open("/proc/self/maps") as lines:
        for line in lines:
            fields = line.split(None, 5)
            shared |= "w" in fields[1] and fields[1].endswith("s")
            if len(fields) == 6 and fields[5].startswith("/"):
                files.add(fields[5].rstrip("\n"))
    return files, shared


def signals():
    return [signal.getsignal(number) for number in sorted(signal.valid_signals())]


def logging_state():
    return list(logging.root.handlers), logging.root.level, logging.root.manager.disable


def who_imports(frame):
    """The module at work, where an extension that it imports says no name of its own."""
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("importlib."):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__"))


def numpy_random():
    return sys.modules.get("numpy.random")


def numpy_state():
    made = numpy_random()
    return repr(made.mtrand._rand.get_state(legacy=False)) if made and hasattr(made, "mtrand") else None


def has_own_generators():
    kinds = [random.Random]
    known = [id(random._inst)]
    made = numpy_random()
    if made and hasattr(made, "mtrand"):
        kinds += [made.RandomState, made.Generator]
        known.append(id(made.mtrand._rand))
    kinds = tuple(kinds)
    return any(issubclass(type(thing), kinds) and not issubclass(type(thing), random.SystemRandom) and id(thing) not in known
               for thing in gc.get_objects())


class Template:
    def __init__(self, wire):
        self.wire = wire
        self.tandem = os.getppid()
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.began = time.time_ns()
        # Modules that print when they are imported would print once instead of in each trial.
        self.printed = os.memfd_create("printed")
        for number in (1, 2):
            os.dup2(self.printed, number)
        self.libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # what imports start stays below

    def prepare(self, wanted):
        self.script = wanted["script"]
        self.folder = os.path.dirname(os.path.realpath(self.script))
        if not getattr(sys.flags, "safe_path", False):
            sys.path[0] = self.folder
        self.own_environment = dict(os.environ)
        at_exit = []
        register = atexit.register
        before = open_descriptors(), signals(), logging_state(), os.getcwd(), random.getstate()
        numpy_before = None

        def noted(function, *rest, **named):
            at_exit.append(getattr(function, "__module__", None) or who_imports(sys._getframe(1)))
            return register(function, *rest, **named)

        atexit.register = noted
        try:
            for name, file in wanted["modules"]:
                try:
                    module = importlib.import_module(name)
                except BaseException as error:
                    raise Unfit(f"{name} cannot be imported beforehand: {type(error).__name__}: {error}") from None
                if file is not None and getattr(module, "__file__", None) != file:
                    raise Unfit(f"{name} is another file here than in the program: {getattr(module, '__file__', None)}")
                if numpy_before is None:
                    numpy_before = numpy_state()
        finally:
            atexit.register = register
        self.refuse_what_cannot_be_forked(before, numpy_before, at_exit)
        self.libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)  # what it forks is Tandem's
        self.changes = initial_changes()
        if wanted.get("environment") is not None:
            differing = sorted(name for name, _ in set(wanted["environment"].items()) ^ set(self.changes.items()))
            if differing:
                raise Unfit(f"the program sets {differing[0]} in its environment, which what it imports may read")
        self.files, self.libraries = self.files_in_use()

    def refuse_what_cannot_be_forked(self, before, numpy_before, at_exit):
        descriptors, handlers, logs, folder, state = before
        threads = len(os.listdir("/proc/self/task")) - 1
        if threads:
            raise Unfit(f"what it imports starts {threads} thread{'s' if threads > 1 else ''}")
        opened = open_descriptors() - descriptors
        if opened:
            what = os.readlink(f"/proc/self/fd/{min(opened)}")
            raise Unfit(f"what it imports keeps {len(opened)} open file{'s' if len(opened) > 1 else ''} or socket{'s' if len(opened) > 1 else ''}: {what}")
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            raise Unfit("what it imports starts a process")
        except ChildProcessError:
            pass
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        if os.fstat(self.printed).st_size:
            raise Unfit("what it imports prints: " + repr(os.pread(self.printed, 80, 0).decode(errors="replace")))
        if mapped()[1]:
            raise Unfit("what it imports shares memory with other processes")
        if signals() != handlers or signal.getitimer(signal.ITIMER_REAL)[0]:
            raise Unfit("what it imports handles signals")
        if os.getcwd() != folder:
            raise Unfit("what it imports changes the folder")
        if logging_state() != logs:
            raise Unfit("what it imports sets up logging")
        if random.getstate() != state or numpy_state() != numpy_before or has_own_generators():
            raise Unfit("what it imports draws random numbers, or keeps a generator of its own")
        for where in at_exit:
            if where.partition(".")[0] not in KNOWN_AT_EXIT:
                raise Unfit(f"what it imports does something at exit ({where})")
        if any(one.atexit for one in weakref.finalize._registry.values()):
            raise Unfit("what it imports leaves something to be removed at exit")

    def files_in_use(self):
        maps = mapped()[0]
        files = {path for path in maps if not path.endswith(" (deleted)")}
        files.update(module.__file__ for module in list(sys.modules.values())
                     if isinstance(getattr(module, "__file__", None), str) and module is not sys.modules["__main__"])
        files.update(path for path in sys.path if path != self.folder and os.path.isdir(path))
        found = {path: identity(path) for path in files}
        for path, at in found.items():
            if at is not None and at[0] > self.began and not os.path.isdir(path):
                raise Unfit(f"{path} changed while it was imported")
        libraries = [path for path in maps if THREADING.match(os.path.basename(path))]
        self.shadowing = {name.partition(".")[0] for name, module in list(sys.modules.items())
                          if not str(getattr(module, "__file__", "")).startswith(os.path.join(self.folder, ""))}
        self.refuse_shadows()
        return found, [ctypes.CDLL(path) for path in libraries]

    def refuse_shadows(self):
        try:
            here = {name.partition(".")[0] for name in os.listdir(self.folder) if name.endswith((".py", ".pyc", ".so")) or "." not in name}
        except OSError as error:
            raise Unfit(f"{self.folder}: {error.strerror}") from None
        same = sorted(here & self.shadowing - {"__main__", "__pycache__"})
        if same:
            raise Unfit(f"{same[0]} in the script's folder has the name of a module that is imported beforehand")

    def refuse_stale(self, request):
        for path, at in self.files.items():
            if identity(path) != at:
                raise Unfit(f"{path} has changed")
        self.refuse_shadows()
        environment = request["environment"]
        other = any("libgomp" not in library._name and "omp" in os.path.basename(library._name) for library in self.libraries)
        if other and environment.get("OMP_WAIT_POLICY") != self.own_environment.get("OMP_WAIT_POLICY"):
            raise Unfit("its OpenMP library has read another OMP_WAIT_POLICY")
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS"):
            if not environment.get(name, "1").isdigit() or environment.get(name) == "0":
                raise Unfit(f"{name} is {environment[name]!r}")

    # ---- forking ----

    def serve(self):
        """Forks until Tandem is gone. Returns in forked trials alone: what to run."""
        while True:
            request, descriptors = self.wire.receive()
            if request is None:
                os._exit(0)
            try:
                self.refuse_stale(request)
                first = os.fork()
            except (Unfit, OSError) as error:
                self.wire.send({"refused": str(error)})  # before `status` closes, which ends Tandem's wait
                os._exit(0)
            if first == 0:
                return self.forked(request, descriptors)
            for number in descriptors:
                os.close(number)
            os.waitpid(first, 0)

    def forked(self, request, descriptors):
        """Returns in the trial's process alone, which nothing below may leave in another way."""
        trial = None
        try:
            self.wire.close()
            if os.fork() == 0:  # once this one is gone, the next is Tandem's child
                trial = self.keep(request, descriptors)
        except BaseException:
            traceback.print_exc()
        finally:
            if trial is None:
                sys.stderr.flush()
                os._exit(127)
        return trial

    def keep(self, request, descriptors):
        """Forks the trial, and becomes its keeper (platform/process_tree.h)."""
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        for _ in range(10000):
            if os.getppid() == self.tandem:
                break
            time.sleep(0.0005)
        self.libc.prctl(PR_SET_PDEATHSIG, int(PARENT_GONE), 0, 0, 0)
        if os.getppid() != self.tandem:
            os._exit(127)
        os.setsid()
        self.libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        keeper = os.getpid()
        trial = os.fork()
        if trial == 0:
            return self.begin(request, descriptors, keeper)
        try:
            os.setpgid(trial, trial)  # both sides do it, so that it holds whoever runs first
        except OSError:
            pass
        try:
            os.write(descriptors[3], struct.pack("=ii", keeper, trial))
            os.closerange(3, 1 << 16)
            os.execv(request["keeper"], ["tandem-keeper", str(trial)])
        finally:
            os.kill(trial, signal.SIGKILL)
            os._exit(127)

    def begin(self, request, descriptors, keeper):
        """The trial's process, until its script begins."""
        output, errors, gate, status = descriptors[:4]
        self.libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != keeper:
            os._exit(127)
        os.setpgid(0, 0)
        os.dup2(output, 1)
        os.dup2(errors, 2)
        if request["cpus"]:
            os.sched_setaffinity(0, request["cpus"])
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if os.read(gate, 1) == b"":
            os._exit(127)  # Tandem gave up
        environment = dict(request["environment"])
        if len(descriptors) > 4:
            os.dup2(descriptors[4], 3)
            environment["TANDEM_SOCKET"] = "3"
        os.closerange(4 if len(descriptors) > 4 else 3, 1 << 16)
        if len(descriptors) > 4:
            os.set_inheritable(3, True)
        for name, value in self.changes.items():
            environment.pop(name, None) if value is None else environment.__setitem__(name, value)
        for name in list(os.environ):
            if name not in environment:
                del os.environ[name]
        os.environ.update(environment)
        self.set_threads(environment)
        if numpy_random() and hasattr(numpy_random(), "mtrand"):
            numpy_random().seed()  # as a new process is: the fork copied its state. `random` does it by itself
        return request["script"], request["arguments"], request["interpreter"]

    def set_threads(self, environment):
        for library in self.libraries:
            for setter, variables in SETTERS:
                wanted = next((environment[name] for name in variables if name in environment), None)
                if wanted and hasattr(library, setter):
                    getattr(library, setter)(ctypes.c_int(int(wanted)))
        torch = sys.modules.get("torch")
        if torch and environment.get("OMP_NUM_THREADS"):
            torch.set_num_threads(int(environment["OMP_NUM_THREADS"]))


def initial_changes():
    """Of this process' environment since it was started: by the interpreter, and by what it imported (as _loaded.py)."""
    with open("/proc/self/environ", "rb") as file:
        entries = [entry.partition(b"=") for entry in file.read().split(b"\0")]
    before = {os.fsdecode(name): os.fsdecode(value) for name, equals, value in reversed(entries) if equals}
    now = dict(os.environ)
    out = {name: value for name, value in now.items() if before.get(name) != value}
    out.update((name, None) for name in before if name not in now)
    return {name: value for name, value in out.items() if name != "TANDEM_TEMPLATE"}


# ---- the script ----

_interrupted = False


def _end_by_interrupt():
    """What Python does after an uncaught KeyboardInterrupt, once all else is done."""
    if _interrupted:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)


def run(script, arguments, interpreter):
    """As `python script arguments` does."""
    global _interrupted
    sys.argv = [script, *arguments]
    if hasattr(sys, "orig_argv"):
        sys.orig_argv = [*interpreter, script, *arguments]
    path = script
    if sys.version_info >= (3, 9) and not os.path.isabs(script):
        path = os.path.join(os.getcwd(), script[2:] if script.startswith("./") else script)
    main = types.ModuleType("__main__")
    main.__dict__.update(_fresh, __doc__=None, __file__=path, __loader__=importlib.machinery.SourceFileLoader("__main__", path))
    sys.modules["__main__"] = main
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        print(f"{interpreter[0]}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        sys.exit(2)
    failure = None
    try:
        exec(compile(source, path, "exec", dont_inherit=True), main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        failure = error
    for stream in (sys.stderr, sys.stdout):  # before a traceback, as Python does
        try:
            stream.flush()
        except Exception:
            pass
    if failure is None:
        return
    trace = failure.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    failure.__traceback__ = trace
    sys.last_type, sys.last_value, sys.last_traceback = type(failure), failure, trace
    if sys.version_info >= (3, 12):
        sys.last_exc = failure
    _interrupted = isinstance(failure, KeyboardInterrupt)
    sys.excepthook(type(failure), failure, trace)
    sys.exit(1)


def prepared():
    """What to run, in a forked trial."""
    template = Template(Wire(int(os.environ.pop("TANDEM_TEMPLATE"))))
    message, _ = template.wire.receive()
    if message is None:
        os._exit(0)
    with open(message["wanted"]) as file:  # it may be long
        wanted = json.load(file)
    try:
        template.prepare(wanted)
    except Exception as why:
        template.wire.send({"refused": str(why) if isinstance(why, Unfit) else f"{type(why).__name__}: {why}"})
        os.unlink(message["wanted"])
        template.wire.receive()  # Tandem ends this process, with all its imports have started
        os._exit(0)
    gc.collect()
    gc.freeze()  # a collection in a trial would write to each object, and so copy all that is shared
    template.wire.send({"ready": True})
    os.unlink(message["wanted"])  # whoever waits for the template sees it by this
    return template.serve()


if __name__ == "__main__":
    atexit.register(_end_by_interrupt)  # the first one in is the last one out
    run(*prepared())
