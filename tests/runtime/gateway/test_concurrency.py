"""Slots: first come, first served; a refusal halves them, answers bring them back."""

import asyncio
import threading

from coterie.runtime.gateway.concurrency import Slots


async def in_flight(slots: Slots, *, most: int = 100) -> int:
    """Take slots until one has to wait; give them all back and tell how many they were."""
    taken = 0
    while taken < most:
        taking = asyncio.ensure_future(slots.take())
        await asyncio.sleep(0)
        if not taking.done():
            taking.cancel()
            break
        taken += 1
    for _ in range(taken):
        slots.give_back()
    return taken


async def test_slots_are_bounded_and_unbounded() -> None:
    assert await in_flight(Slots(3)) == 3
    assert await in_flight(Slots()) == 100
    slots = Slots(8)
    slots.narrow(5)
    slots.narrow(7)
    assert await in_flight(slots) == 5
    slots.widen(5)
    assert await in_flight(slots) == 7


async def test_who_came_first_goes_first() -> None:
    slots, order = Slots(1), list[int]()

    async def work(number: int) -> None:
        await slots.take()
        order.append(number)
        await asyncio.sleep(0)
        slots.give_back()

    await asyncio.gather(*(work(number) for number in range(5)))
    assert order == [0, 1, 2, 3, 4]


async def test_a_slot_that_another_loop_gives_back_wakes_who_waits_here() -> None:
    slots, order = Slots(1), list[str]()
    waits, goes_on = threading.Event(), threading.Event()

    async def other() -> None:
        await slots.take()
        waits.set()
        await asyncio.to_thread(goes_on.wait)
        order.append("there")
        slots.give_back()

    thread = threading.Thread(target=asyncio.run, args=(other(),))
    thread.start()
    await asyncio.to_thread(waits.wait)
    taking = asyncio.create_task(slots.take())
    await asyncio.sleep(0)
    goes_on.set()
    await taking
    order.append("here")
    slots.give_back()
    thread.join()
    assert order == ["there", "here"]


def test_who_waits_in_a_loop_that_is_gone_keeps_nobody_waiting() -> None:
    slots, loop = Slots(1), asyncio.new_event_loop()
    loop.run_until_complete(slots.take())
    gone = loop.create_task(slots.take())
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    slots.give_back()
    assert asyncio.run(in_flight(slots)) == 1
    gone.get_coro().close()


async def test_calls_that_are_refused_together_halve_the_bound_once() -> None:
    slots = Slots(8)
    tickets = [await slots.take() for _ in range(8)]
    for ticket in tickets:
        slots.refused(ticket)
        slots.give_back()
    assert await in_flight(slots) == 4
    slots.refused(await slots.take())
    slots.give_back()
    assert await in_flight(slots) == 1  # one was in flight: its half is the least there is


async def test_a_refusal_bounds_a_model_without_a_bound_by_what_was_in_flight() -> None:
    slots = Slots()
    tickets = [await slots.take() for _ in range(10)]
    slots.refused(tickets[0])
    for _ in tickets:
        slots.give_back()
    assert await in_flight(slots) == 5


async def test_answers_widen_the_bound_by_one_per_round_up_to_what_it_was() -> None:
    slots = Slots(4)
    tickets = [await slots.take() for _ in range(4)]
    slots.refused(tickets[0])
    for _ in tickets:
        slots.give_back()
    bounds = [await in_flight(slots)]
    for _ in range(8):
        slots.answered()
        bounds.append(await in_flight(slots))
    assert bounds == [2, 2, 2, 3, 3, 3, 4, 4, 4]


async def test_who_is_cancelled_while_waiting_holds_no_slot() -> None:
    slots = Slots(1)
    await slots.take()
    waiting = [asyncio.create_task(slots.take()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()  # while it waits
    slots.give_back()  # before it knows: the next one is let in
    waiting[1].cancel()  # just when it was let in
    await asyncio.sleep(0)
    await waiting[2]
    slots.give_back()
    assert [task.cancelled() for task in waiting] == [True, True, False]
    assert await in_flight(slots) == 1
