"""What a port asks the disciplines of its queues: each question goes to the kernels of that name in their files.

A discipline has the kernels that it needs, with the arguments that stand here; `settings` are its own there. `state` is
what is kept for the queue of a link and a class: that of a discipline is the field of its name. `limits` is the row of
the link's LINK_CLASS. Answers are or-ed.
"""

from collections.abc import Callable
from inspect import signature

from netsim.kernel import Kernel, part
from netsim.queues.registry import REGISTRY, Discipline

EVENTS: dict[str, Callable[..., int]] = {}


def joined(discipline: Discipline, own: Kernel, rest: Kernel) -> Kernel:
    """Both answers, the discipline's own where it is on."""
    name = discipline.name

    @part
    def always(settings, state, *event):
        return own(settings, state, *event) | rest(settings, state, *event)

    @part
    def where_on(settings, state, *event):
        answer = rest(settings, state, *event)
        if settings.disciplined and settings.queues[name].on:
            answer |= own(settings.queues[name], state, *event)
        return answer

    return where_on if discipline.settings else always


def instead(discipline: Discipline, own: Kernel, rest: Kernel) -> Kernel:
    """The answer of the discipline where it is on."""
    name = discipline.name

    @part
    def where_on(settings, states, *event):
        if settings.disciplined and settings.queues[name].on:
            return own(settings.queues[name], states, *event)
        return rest(settings, states, *event)

    return where_on if discipline.settings else own


def kernel_for(otherwise: Callable[..., int], join: Callable[[Discipline, Kernel, Kernel], Kernel]) -> Kernel:
    """The kernel for a question. TypeError where a discipline has other arguments."""
    name = otherwise.__name__
    kernel = part(otherwise)
    for discipline in sorted(REGISTRY.values(), key=lambda each: each.settings is not None):  # these over the others
        own = discipline.kernels.get(name)
        if own is None:
            continue
        if list(signature(own).parameters) != list(signature(otherwise).parameters):
            raise TypeError(f"{discipline.name}.{name}{signature(own)}: a port asks {name}{signature(otherwise)}")
        kernel = join(discipline, own, kernel)
    EVENTS[name] = otherwise
    return kernel


def question(otherwise: Callable[..., int]) -> Kernel:
    """Answered by all disciplines that are on."""
    return kernel_for(otherwise, joined)


def choice(otherwise: Callable[..., int]) -> Kernel:
    """Answered by one discipline: one with settings where it is on, else by one without."""
    return kernel_for(otherwise, instead)


@question
def refuses(settings, state, limits, pool, backlog, wire_bytes, now):
    """A packet comes to a queue of `backlog` bytes: true if it finds no room. pool: the switch's shared memory."""
    return False


@question
def on_full(settings, state, last_bytes, wire_bytes, seed, row, trims):
    """A data packet finds no room: an answer of verdicts.py, 0 to drop it. last_bytes: of the last in the queue,

    0 if none waits there or it may not be cut. trims: packets cut at this queue before.
    """
    return 0


@question
def on_enqueue(settings, state, limits, backlog, accepted, seed, row, now):
    """A data packet joins a queue of `backlog` bytes: true marks it. accepted: packets before it."""
    return False


@question
def on_dequeue(settings, state, limits, backlog, wire_bytes, waited, sent, seed, row, now):
    """A data packet of `wire_bytes` leaves a queue of `backlog` bytes, itself among them: true marks it.

    waited: ps that it stood there. sent: packets that the link has sent.
    """
    return False


@question
def on_transmit(settings, state, wire_bytes):
    """A data packet of one of several classes begins to be sent by a switch or a NIC. Returns 0."""
    return 0


@choice
def next_class(settings, states, row, stride, head_bytes):
    """Which class a link sends next. The state of class k is row `row + k * stride` of `states`.

    It may be asked, and nothing sent then. head_bytes: per class, bytes of the packet that it would send, 0 if it has
    none or is stopped; a NIC's own connection counts with a full packet. One at least is not 0.
    """
    return 0


def refuse_unasked() -> None:
    """Raise TypeError where a discipline has a kernel `on_...` that nobody would call."""
    for discipline in REGISTRY.values():
        if unasked := {name for name in discipline.kernels if name.startswith("on_")} - EVENTS.keys():
            raise TypeError(f"{discipline.name}: no port asks {', '.join(sorted(unasked))}")


refuse_unasked()
