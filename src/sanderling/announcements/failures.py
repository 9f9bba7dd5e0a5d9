"""What is wrong with a report."""


class BadReport(ValueError):
    """Nothing of the report is believed. The text says why, as the end of a sentence: "it is
    ..."."""
