"""Microsoft Agent Framework: an executor per agent, with fan-out and fan-in edges."""

from __future__ import annotations

from typing import Any

from agent_framework import Agent, Executor, WorkflowBuilder, WorkflowContext, handler
from agent_framework.openai import OpenAIChatCompletionClient
from workloads import SYSTEM, Workload, model, prompt

Message = dict[str, str]


class Begin(Executor):
    """Sends the run's name to the first agents."""

    @handler
    async def begin(self, run: str, ctx: WorkflowContext[dict]) -> None:
        """Start the run."""
        await ctx.send_message({"run": run, "agent": "", "text": ""})


class Node(Executor):
    """Asks an agent, once all of its predecessors have reported."""

    def __init__(self, name: str, agent: Agent, *, is_last: bool) -> None:
        super().__init__(id=name)
        self.agent, self.is_last = agent, is_last

    async def ask(self, messages: list[Message], ctx: Any) -> None:
        """Ask, and report."""
        run = messages[0]["run"]
        fields = {message["agent"]: message["text"] for message in messages if message["agent"]}
        answer = await self.agent.run(prompt(run, fields))
        report = {"run": run, "agent": self.id, "text": answer.text}
        await (ctx.yield_output(report) if self.is_last else ctx.send_message(report))

    @handler
    async def one(self, message: dict, ctx: WorkflowContext[dict, dict]) -> None:
        """Take the report of a single predecessor."""
        await self.ask([message], ctx)

    @handler
    async def several(self, messages: list[dict], ctx: WorkflowContext[dict, dict]) -> None:
        """Take the reports of all predecessors."""
        await self.ask(messages, ctx)


def build(workload: Workload, api_base: str) -> tuple[Workload, dict[str, Any]]:
    """Make one client for each model; a workflow serves one run at a time, so runs build it."""
    names = {model(seconds) for seconds, _ in workload.agents.values()}
    return workload, {
        name: OpenAIChatCompletionClient(name, base_url=api_base, api_key="none") for name in names
    }


async def run(team: tuple[Workload, dict[str, Any]], run: str) -> str:
    """Build the workflow and run it."""
    outputs = (await assembled(*team).run(run)).get_outputs()
    return outputs[-1]["text"]


def assembled(workload: Workload, clients: dict[str, Any]) -> Any:
    """Connect the executors."""
    nodes: dict[str, Node] = {}
    for name, (seconds, _) in workload.agents.items():
        client, text = clients[model(seconds)], SYSTEM.format(agent=name)
        agent = Agent(client=client, instructions=text, name=name)
        nodes[name] = Node(name, agent, is_last=name == workload.output)
    begin = Begin(id="begin")
    builder = WorkflowBuilder(start_executor=begin)
    first = [nodes[name] for name, (_, before) in workload.agents.items() if not before]
    builder.add_fan_out_edges(begin, first) if len(first) > 1 else builder.add_edge(begin, first[0])
    for name, (_, before) in workload.agents.items():
        if len(before) > 1:
            builder.add_fan_in_edges([nodes[word] for word in before], nodes[name])
        elif before:
            builder.add_edge(nodes[before[0]], nodes[name])
    return builder.build()
