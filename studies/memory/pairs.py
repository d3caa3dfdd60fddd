"""Tasks in two wordings each, written for this benchmark. Several are about the same things."""

from __future__ import annotations

PAIRS = (
    (
        "Ann has 12 apples and gives 5 of them to Ben. How many does she keep?",
        "After handing five pieces of fruit from her dozen to a friend, what is left for Ann?",
    ),
    (
        "A shirt costs 40 euros and is 25 % off. What do you pay?",
        "Find the final price of a garment worth €40 once a quarter of it is taken away.",
    ),
    (
        "A train leaves at 9:40 and the journey takes 95 minutes. When does it arrive?",
        "Departure is at twenty to ten, travel time an hour and thirty-five; state the arrival.",
    ),
    (
        "Write October 23, 1983 as an ISO 8601 date.",
        "Convert the day '23rd of Oct. 1983' to the form YYYY-MM-DD.",
    ),
    (
        "What weekday was the 14th of July 1789?",
        "Name the day of the week on which the Bastille was stormed.",
    ),
    (
        "Is this film review positive or negative?",
        "Decide whether the critic liked the movie.",
    ),
    (
        "Give this customer message one of the labels billing, delivery, or other.",
        "Sort an incoming support ticket into the right department.",
    ),
    (
        "Summarise the article in three sentences.",
        "Condense the newspaper piece into a short abstract.",
    ),
    (
        "Translate this paragraph from German into English.",
        "Render the Deutsch passage in the language of Shakespeare.",
    ),
    (
        "Fix the spelling and the grammar of this letter without changing its tone.",
        "Proofread the correspondence; correct mistakes but keep the style.",
    ),
    (
        "Write a Python function that returns the n-th Fibonacci number.",
        "Implement code computing terms of the sequence where each is the sum of the two before.",
    ),
    (
        "The function sort_items loses duplicates. Find the bug and repair it.",
        "Equal elements vanish when the list is put in order; debug and patch the program.",
    ),
    (
        "Add unit tests for the module that parses configuration files.",
        "Raise the coverage of the settings reader by writing checks for it.",
    ),
    (
        "Refactor this class so that it no longer depends on global variables.",
        "Restructure the object: pass its state in explicitly instead of sharing it everywhere.",
    ),
    (
        "Why does this SQL query take minutes, and how can it be made quicker?",
        "Speed up a slow database statement and explain the bottleneck.",
    ),
    (
        "Count the rows of the table whose status is 'open', by month.",
        "For every calendar month, give the number of unresolved records.",
    ),
    (
        "Send an invitation for Tuesday at three to everybody on the team.",
        "Schedule a meeting with all colleagues on the second day of the week, 15:00.",
    ),
    (
        "Move all unread messages from Dana to the folder Urgent.",
        "Refile the emails by Dana that nobody has opened yet under high priority.",
    ),
    (
        "Cancel every appointment I have on Friday afternoon.",
        "Clear my calendar after lunch on the last working day.",
    ),
    (
        "Which city is the capital of Australia?",
        "Name the seat of government of the country whose biggest town is Sydney.",
    ),
    (
        "Who wrote the novel Pride and Prejudice?",
        "Name the author of the story about Elizabeth Bennet and Mr Darcy.",
    ),
    (
        "At what temperature does water boil on a mountain of 3,000 metres?",
        "How hot does H2O get before turning into steam at high altitude?",
    ),
    (
        "Explain to a child why the sky is blue.",
        "In simple words: what gives the daytime heavens their colour?",
    ),
    (
        "A patient has a fever, a stiff neck and a headache. What should be ruled out first?",
        "High temperature, pain in the head, nuchal rigidity: which diagnosis is most urgent?",
    ),
    (
        "List the side effects of aspirin.",
        "What unwanted reactions can acetylsalicylic acid cause?",
    ),
    (
        "All bloops are razzies and all razzies are lazzies. Are all bloops lazzies?",
        "If every A is a B and each B is a C, does it follow that any A is a C?",
    ),
    (
        "Three people always lie or always tell the truth. From what they say, find the liar.",
        "Work out which of the witnesses is a knave, given their statements about each other.",
    ),
    (
        "Put these five books in order, given which stands left of which.",
        "Arrange the volumes on the shelf so that all the positional clues hold.",
    ),
    (
        "Does the contract allow the tenant to sublet the flat?",
        "May whoever rents the apartment let a room to somebody else under this agreement?",
    ),
    (
        "Plan a week of vegetarian dinners for two on a budget of 50 euros.",
        "Suggest seven cheap meatless evening meals for a couple.",
    ),
)
