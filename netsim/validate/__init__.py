"""`netsim validate`: published experiments run again, figure by figure beside what was published.

A family of experiments per file, an experiment per function, and a line of EXPERIMENTS. Tolerances are those with which
the figures are compared anywhere; a figure that misses its own says so, and no tolerance is widened for it.
"""

import warnings
from collections.abc import Callable, Iterator

from netsim.errors import NetsimError, refuse_unknown
from netsim.validate import chance, exact, fairness, lossless, ultra
from netsim.validate.connectx5 import connectx5
from netsim.validate.nouns import Experiment, Finding, said

HTSIM = "csg-htsim 841d9e7, spcl/HTSIM 8a33f33"
UET = "uet-htsim 40ccb052, spcl/HTSIM"

EXPERIMENTS = {
    "roce-incast": Experiment(HTSIM, exact.roce_incast),
    "roce-ring": Experiment(HTSIM, exact.roce_ring),
    "roce-permutation": Experiment(HTSIM, exact.roce_permutation),
    "roce-all-to-all": Experiment(HTSIM, exact.roce_all_to_all),
    "one-flow": Experiment(UET, ultra.one_flow),
    "incast-15": Experiment(UET, ultra.incast_15),
    "permutation-16": Experiment(UET, ultra.permutation_16),
    "permutation-1024": Experiment(UET, ultra.permutation_1024),
    "four-to-one": Experiment("spcl/HTSIM leaf_spine_tiny", ultra.four_to_one),
    "dependent-ring": Experiment("spcl/HTSIM gen_allreduce.py", ultra.dependent_ring),
    "go-back-n-sprayed": Experiment("csg-htsim htsim_roce", lossless.go_back_n_meets_spray),
    "in-and-out": Experiment("csg-htsim EXAMPLES/in_and_out; NDP, figure 21", fairness.in_and_out),
    "connectx5": Experiment("openfabric-systems/simllm, rnic-anomaly-table.md", connectx5),
    "dcqcn-and-windows": Experiment("High-Precision-Congestion-Control, issue 14", lossless.dcqcn_and_windows),
    "dcqcn-thresholds": Experiment("DCQCN, SIGCOMM 2015, section 4", lossless.dcqcn_thresholds),
    "two-flows": Experiment("each control's paper: equal shares", fairness.two_flows),
    "controls-differ": Experiment("complaint about a peer", fairness.controls_differ),
    "hashed-paths": Experiment("balls into bins", chance.hashed_paths),
    "shared-buffer": Experiment("Choudhury and Hahne 1998, section II", lossless.shared_buffer),
    "headroom": Experiment("IEEE 802.1Qbb", lossless.headroom),
    "losses": Experiment("complaint about a peer", chance.losses),
}


def validate(
    only: list[str] | None = None, *, full: bool = False, tell: Callable[[str], None] | None = None
) -> Iterator[Finding]:
    """Run the experiments (or those named) and give their findings as they come; `tell` hears what is begun."""
    refuse_unknown("no experiment", only or (), EXPERIMENTS, where="--only")
    for name, experiment in EXPERIMENTS.items():
        if not only or name in only:
            if tell:
                tell(name)
            yield from _findings(name, experiment, full)


def _findings(name: str, experiment: Experiment, full: bool) -> Iterator[Finding]:
    figures = experiment.run(full)
    try:
        while True:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # what its settings lack is what its source has
                figure = next(figures, None)
            if figure is None:
                return
            yield Finding(experiment=name, source=experiment.source, **vars(figure))
    except NetsimError as error:
        broken = said("the run itself", "an end", str(error), False)
        yield Finding(experiment=name, source=experiment.source, **vars(broken))


__all__ = ["EXPERIMENTS", "Experiment", "Finding", "validate"]
