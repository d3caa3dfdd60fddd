"""The benchmark's own files: what the references are judged to be, and how fast."""

from collections import Counter
from pathlib import Path

from coterie.benchmarks.evaluation.benchmark import Source
from coterie.benchmarks.workbench import OPERATIONS, find_folder, load_tables, verdict
from coterie.benchmarks.workbench.tasks import WORKBENCH, WORKBENCH_DOMAINS

NICHES = {
    "analytics": 120,
    "calendar": 110,
    "crm": 80,
    "email": 90,
    "multi_domain": 210,
    "project_management": 80,
}


def test_the_reference_calls_are_correct_without_side_effects(real: Path) -> None:
    tasks = WORKBENCH.tasks(Source(data=real))
    tables = load_tables(find_folder(real))
    assert Counter(task.niche for task in tasks) == NICHES
    assert list(dict.fromkeys(task.niche for task in tasks)) == list(NICHES)
    assert len({task.id for task in tasks}) == 690
    verdicts = [verdict(task.answer, task.answer, "", tables) for task in tasks]
    assert (
        sum(item.correct and not item.side_effects and item.exact_match for item in verdicts) == 690
    )
    wrong = [verdict([], task.answer, "", tables) for task in tasks]
    # 122 references are empty, and two more change nothing.
    assert sum(item.correct for item in wrong) == 124
    assert not any(item.side_effects for item in wrong)


def test_the_named_domains_leave_out_the_customers_of_50_tasks(real: Path) -> None:
    tasks = WORKBENCH_DOMAINS.tasks(Source(data=real))
    several = [task for task in tasks if task.niche == "multi_domain"]
    customers = [task for task in several if "customer_relationship_manager." in str(task.answer)]
    assert len(customers) >= 32
    assert not any("customer_relationship_manager" in t.scorer.options["toolkits"] for t in several)


def test_the_tables_are_as_the_benchmark_has_them(real: Path) -> None:
    tables = load_tables(find_folder(real))
    assert [len(table) for table in tables.compared] == [300, 500, 0, 300, 200]
    assert (len(tables.visits), len(tables.directory)) == (1000, 20)
    assert len(OPERATIONS) == 27
    assert sum(operation.changes for operation in OPERATIONS.values()) == 14
