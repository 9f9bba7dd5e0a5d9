"""The search engine: what the pages of a crawl say and said, found by their words.

A version of a page becomes a document of a tantivy index in `DIR/index` (`schema` says of which fields), written beside
the crawl or when somebody asks (`writing`). A question is read (`parsing`), turned into a query (`matching`, with the
forms of its words from `forms`), its best documents are folded and weighed (`ranking`) and shown with the words marked
(`snippets`). The index holds nothing that the archive does not: deleting it loses nothing.
"""
