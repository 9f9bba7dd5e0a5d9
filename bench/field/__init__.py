"""The field trial: applications that nobody here wrote, installed, filled, crawled, edited and
crawled again.

Each application is one module with the functions of `application.Application`. Its truth is what
its own database says, or the files it was filled with. `registry` names them all, `trial` runs
them, `table` prints what came of it.
"""
