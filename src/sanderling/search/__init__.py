"""The full-text search over all versions of a crawl's pages.

Each version of a page becomes a document of a tantivy index in `DIR/index`. `schema` defines its
fields, and `indexing` adds documents beside the crawl or before a search. A search parses the text
of the query (`parsing`) and turns it into a query of tantivy (`matching`, with the other forms of
each word from `word_forms`). It ranks the best documents, folds those with the same text
(`ranking`) and cuts snippets with marked words (`snippets`). The index is made from the archive
alone: it can be deleted and made again.
"""
