"""Leaves and spines of which some links are not like the others."""

from dataclasses import replace
from typing import Any

from netsim.topology import LeafSpine, Network


class OddLinks(LeafSpine):
    """odd: by the name of a link or of a node at its end, what is otherwise there: {"spine0": {"rate_bps": 10**10}}."""

    odd: dict[str, dict[str, Any]]

    def build(self) -> Network:
        network, links = super().build(), []
        for link in network.links:
            name = network.link_name(link.number)
            changes = [fields for place, fields in self.odd.items() if place in (name, *name.split("->"))]
            links.append(link._replace(**{key: value for fields in changes for key, value in fields.items()}))
        return replace(network, links=tuple(links))
