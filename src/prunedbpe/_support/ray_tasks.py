"""Ray: functions that run as tasks on the nodes of a cluster.

Ray restarts the tasks of lost workers and nodes. An error of ours ends the job and
reaches the caller as it was raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from prunedbpe.errors import MissingExtraError, PrunedBPEError

MAX_RETRIES = 10
"""How often Ray restarts a task after its worker or node was lost."""


class RayCluster:
    """A cluster that this process is connected to; see :func:`ray_cluster`."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray

    @property
    def cpus(self) -> int:
        """CPUs of all nodes, at least 1."""
        return max(int(self._ray.cluster_resources().get("CPU", 1)), 1)

    def share(self, value: Any) -> Any:
        """Store a value once for all tasks; a task that is given the result gets the value."""
        return self._ray.put(value)

    def run(
        self,
        function: Callable[..., Any],
        calls: Iterable[tuple[Any, ...]],
        *,
        cpus: float = 1,
        memory: int | None = None,
        ahead: int | None = None,
    ) -> Iterator[tuple[int, Any]]:
        """Run a function as tasks, spread over the nodes.

        Args:
            function: Can be imported on every node. It may run more than once for a call.
            calls: The arguments of each task.
            cpus: CPUs that a task uses.
            memory: Bytes of memory that a task uses, for Ray to plan with.
            ahead: How many calls are taken before the first is done; all by default.

        Yields:
            Number and result of each call, as they are done.

        Raises:
            PrunedBPEError: Raised by a task, or the cluster has lost it too often.
        """
        remote = self._ray.remote(function).options(
            num_cpus=cpus, memory=memory, max_retries=MAX_RETRIES, scheduling_strategy="SPREAD"
        )
        numbers: dict[Any, int] = {}
        waiting = enumerate(calls)
        try:
            while True:
                while ahead is None or len(numbers) < ahead:
                    following = next(waiting, None)
                    if following is None:
                        break
                    numbers[remote.remote(*following[1])] = following[0]
                if not numbers:
                    return
                (done,), _ = self._ray.wait(list(numbers), num_returns=1)
                number = numbers.pop(done)
                try:
                    result = self._ray.get(done)
                except self._ray.exceptions.RayError as error:
                    _raise(error)
                yield number, result
        finally:
            for reference in numbers:
                self._ray.cancel(reference)


@contextmanager
def ray_cluster(address: str | None, purpose: str) -> Iterator[RayCluster]:
    """Connect to a cluster; a connection that this process already has is used and kept.

    Args:
        address: As for ``ray.init``: ``auto``, ``host:port`` or ``ray://host:port``. By default
            the cluster that the environment names, otherwise a new one on this machine.
        purpose: What needs Ray, for the error.

    Raises:
        MissingExtraError: Ray is not installed.
        PrunedBPEError: There is no cluster at the address.
    """
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise MissingExtraError("ray", "ray", purpose) from error
    is_ours = not ray.is_initialized()
    if is_ours:
        try:
            ray.init(address=address, log_to_driver=False, include_dashboard=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise PrunedBPEError(
                f"no Ray cluster can be reached at {address or 'the default address'}: {error}",
                hint="start one with `ray start --head`, or leave out the address",
            ) from error
    try:
        yield RayCluster(ray)
    finally:
        if is_ours:
            ray.shutdown()


def _raise(error: Exception) -> NoReturn:
    """Raise what a task raised, with its own type."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, (PrunedBPEError, OSError)):
        raise cause from None  # the trace of another process would hide the message
    if cause is not None:
        raise error
    raise PrunedBPEError(
        f"Ray has lost a task {MAX_RETRIES + 1} times: {error}",
        hint="workers may lack memory; what is done is kept, so run the same command again",
    ) from error
