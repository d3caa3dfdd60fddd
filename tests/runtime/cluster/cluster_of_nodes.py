"""A Ray cluster of N nodes on this machine, for as long as standard input is open.

It prints its address and the process ids of its nodes.
"""

import sys
from typing import Any

from ray.cluster_utils import Cluster

NODE = {"num_cpus": 2, "object_store_memory": 80 << 20}


def main() -> None:
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    nodes: list[Any] = [
        cluster.head_node,
        *(cluster.add_node(wait=False, **NODE) for _ in range(int(sys.argv[1]) - 1)),
    ]
    cluster.wait_for_nodes()
    pids = [node.all_processes["raylet"][0].process.pid for node in nodes]
    sys.stdout.write(f"{cluster.address} {' '.join(map(str, pids))}\n")
    sys.stdout.flush()
    sys.stdin.read()
    cluster.shutdown()


if __name__ == "__main__":
    main()
