"""What is joined to what in a network."""

from netsim.topology import Network


def ups(network: Network, name: str) -> list[str]:
    """Names of the nodes above a node: where its links to a higher number go."""
    links = [network.link_name(link.number).split("->") for link in network.links if link.source < link.target]
    return [above for below, above in links if below == name]
