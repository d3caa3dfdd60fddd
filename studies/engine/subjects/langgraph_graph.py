"""LangGraph: a node per agent, joins by lists of predecessors, ChatOpenAI for the calls."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from workloads import SYSTEM, Workload, model, prompt


class State(TypedDict):
    """What travels through the graph: the run's name and all outputs so far."""

    run: str
    outputs: Annotated[dict[str, str], operator.or_]


def build(workload: Workload, api_base: str) -> tuple[Any, str]:
    """Compile the graph once; it may be invoked many times at once."""
    graph, clients = StateGraph(State), {}
    for agent, (seconds, before) in workload.agents.items():
        name = model(seconds)
        if name not in clients:
            clients[name] = ChatOpenAI(model=name, base_url=api_base, api_key="none")
        graph.add_node(agent, node(agent, before, clients[name]))
        graph.add_edge(list(before) if len(before) > 1 else before[0] if before else START, agent)
    graph.add_edge(workload.output, END)
    return graph.compile(), workload.output


def node(agent: str, before: tuple[str, ...], client: Any) -> Any:
    """Make the node of an agent."""

    async def call(state: State) -> dict[str, dict[str, str]]:
        asked = prompt(state["run"], {name: state["outputs"][name] for name in before})
        answer = await client.ainvoke([("system", SYSTEM.format(agent=agent)), ("user", asked)])
        return {"outputs": {agent: answer.content}}

    return call


async def run(team: tuple[Any, str], run: str) -> str:
    """Invoke the compiled graph."""
    graph, output = team
    state = await graph.ainvoke({"run": run, "outputs": {}}, {"recursion_limit": 100})
    return state["outputs"][output]
