"""Compiles modules in processes of their own, as many as there are cores.

So a program never loads the compiler, and always runs machine code as it stands on
disk: there is no difference between the first time and any other.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread

from flexor.maths.machine.target import Target

__all__ = ["CannotCompile", "compile_modules"]

_SCRIPT = "from flexor.maths.machine.build import main; main()"


class CannotCompile(RuntimeError):
    """The kernels of a module could not be compiled; the text says why."""


class _Worker:
    """A process that compiles one module after another."""

    def __init__(self, target: Target) -> None:
        # Settings of the compiler would change what is kept for all.
        own = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
        own["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _SCRIPT, target.processor, target.features],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=own,
        )
        self._said = b""
        # All the time: it would wait for someone to read what it says.
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stderr is not None
        self._said = self._process.stderr.read()

    def compile(self, name: str) -> bytes:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(OSError):  # it has ended: it says why below
            process.stdin.write(f"{name}\n".encode())
            process.stdin.flush()
        size = process.stdout.readline()
        data = process.stdout.read(int(size)) if size.strip().isdigit() else b""
        if not data or len(data) != int(size):
            self._listener.join()
            said = self._said.decode(errors="replace").strip()
            raise CannotCompile(f"{name}: kernels cannot be compiled\n{said}")
        return data

    def end(self) -> None:
        """End the process; whoever waits for it is told that it has ended."""
        self._process.kill()
        self._listener.join()

    def close(self) -> None:
        """Give back what an ended process held; nobody waits for it any more."""
        self._process.communicate()


def compile_modules(
    names: Sequence[str], target: Target, jobs: int = 1
) -> Iterator[tuple[str, bytes]]:
    """Names of modules and their machine code, as each is done, not in their order.

    names: in the order in which they are begun; jobs: processes at once.
    """
    left: SimpleQueue[str] = SimpleQueue()
    for name in names:
        left.put(name)
    done: SimpleQueue[tuple[str, bytes | Exception]] = SimpleQueue()

    def work(worker: _Worker) -> None:
        with suppress(Empty):
            while True:
                name = left.get_nowait()
                try:
                    done.put((name, worker.compile(name)))
                except Exception as error:  # raised again where it is waited for
                    done.put((name, error))
                    return

    workers: list[_Worker] = []
    threads: list[Thread] = []
    try:
        for _ in range(min(max(jobs, 1), len(names))):
            workers.append(_Worker(target))
            threads.append(Thread(target=work, args=(workers[-1],), daemon=True))
            threads[-1].start()
        for _ in names:
            name, data = done.get()
            if isinstance(data, Exception):
                raise data
            yield name, data
    finally:
        for worker in workers:
            worker.end()
        for thread in threads:
            thread.join()
        for worker in workers:
            worker.close()
