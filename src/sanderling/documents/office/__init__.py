"""Documents of office programs: PDF, Word, Excel, PowerPoint, OpenDocument and RTF.

Their parsers take whatever time and memory a document makes them take, so all but `signatures` is
used in a child process only: see `documents/foreign.py`. `readers` has a reader for each format.
"""
