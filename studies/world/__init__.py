"""One simulated world for all methods: agents, tasks and who answers operators, by stated rules.

`worlds` has the numbers, `marks` what is said so that others can read it, `minds` who is right,
`tasks` what is asked, `gateway` answers in the place of models, `trials` and `tables` run and print
a study. A study is a page of settings over these: `chamber`, `retrospect`, `consulting`,
`landscape` and `adaptation`.

**No prompt is read.** Operators' questions come as values (`Question.inputs`), and agents read only
marks that worlds write themselves, such as `[[lesson: orchard | ripe quince | graft every branch |
3]]`, wherever these stand. So every prompt of the package can be reworded.
"""
