"""What tasks cost: rewards and Mechanical Turk's fees, in exact decimals of US dollars."""

from __future__ import annotations

from decimal import ROUND_UP, Decimal

FEE = Decimal("0.20")
"""Fee on rewards (https://www.mturk.com/pricing)."""
FEE_OF_MANY = Decimal("0.40")
"""Fee on the rewards of tasks with ``MANY`` or more assignments: 20 % and a further 20 % (same page)."""
MANY = 10
LOWEST_FEE = Decimal("0.01")
"""Least fee an assignment (same page)."""
CENT = Decimal("0.01")


def fee_rate(workers_per_task: int) -> Decimal:
    """Share of the reward that Mechanical Turk charges on top."""
    return FEE_OF_MANY if workers_per_task >= MANY else FEE


def fee(reward: Decimal, workers_per_task: int) -> Decimal:
    """Fee an assignment, not rounded."""
    return max(LOWEST_FEE, reward * fee_rate(workers_per_task))


def cost(tasks: int, workers_per_task: int, reward: Decimal) -> Decimal:
    """Rewards and fees of that many tasks, rounded up to a cent."""
    exact = tasks * workers_per_task * (reward + fee(reward, workers_per_task))
    return exact.quantize(CENT, ROUND_UP)


def estimate(tasks: int, workers_per_task: int, reward: Decimal) -> dict[str, int | str]:
    """The content of estimate.json: counts as integers, money and shares as decimal strings."""
    assignments = tasks * workers_per_task
    rewards = (assignments * reward).quantize(CENT)
    total = cost(tasks, workers_per_task, reward)
    return {
        "tasks": tasks,
        "assignments": assignments,
        "currency": "USD",
        "reward": f"{reward:.2f}",
        "rewards": str(rewards),
        "fee_rate": str(fee_rate(workers_per_task)),
        "fees": str(total - rewards),
        "total": str(total),
    }
