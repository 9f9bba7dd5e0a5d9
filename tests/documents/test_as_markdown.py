"""How what sites write becomes Markdown."""

import pytest

from sanderling.documents.html import HtmlPage
from sanderling.documents.markdown import as_markdown

TEXT = "<p>" + "Running text that is long enough to be content of a page. " * 5 + "</p>"


def markdown(part: str) -> str:
    page = HtmlPage(f"<html><body><main>{TEXT}{part}</main>", None, "http://e.org/d/").document
    return as_markdown(page, "http://e.org/d/").partition("\n\n")[2].strip()


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<div class="highlight-python notranslate"><div class="highlight"><pre><span></span><b>def</b> f():\n    pass\n</pre></div></div>', "```python\ndef f():\n    pass\n```"),
        ('<pre class="language-pycon"><code class="language-pycon">&gt;&gt;&gt; 1\n</code></pre>', "```pycon\n>>> 1\n```"),
        ('<table class="highlighttable"><tr><td class="linenos"><pre>1\n2</pre></td><td class="code"><pre>a = 1\nb = 2\n</pre></td></tr></table>', "```\na = 1\nb = 2\n```"),
        ('<figure class="highlight js"><table><tr><td class="gutter"><pre>1<br>2</pre></td><td><pre>var a;<br>var b;<br></pre></td></tr></table></figure>', "```js\nvar a;\nvar b;\n```"),
        ('<div class="highlight highlight-source-js"><pre>var x</pre></div>', "```js\nvar x\n```"),
        ('<div class="language-ruby highlighter-rouge"><pre class="highlight"><code>puts 1\n</code></pre></div>', "```ruby\nputs 1\n```"),
        ('<p><a href="javascript:open()">Show all</a> birds<a href=/x></a></p>', "Show all birds"),
        ('<pre>plain</pre>', "```\nplain\n```"),
        ('<h2>Title<a class="headerlink" href="#t">¶</a></h2><h3><a href=#x>#</a>Sub</h3>', "## Title\n\n### Sub"),
        ("<table><thead><tr><th>a<th>b</thead><tr><td>1<td>2 | 3</table>", "| a | b |\n| --- | --- |\n| 1 | 2 \\| 3 |"),
        ('<div class="admonition warning"><p class="admonition-title">Warning</p><p>Hot.</p></div>', "> **Warning**\n>\n> Hot."),
        ('<p>Text<a class="footnote-reference" href="#f1">[1]</a></p><aside class="footnote"><span class="label">[1]</span><p>The note.</p></aside>', "Text[^1]\n\n[^1]: The note."),
        ('<p>Text<sup><a class="footnote-ref" href="#fn:1">1</a></sup></p><div class="footnote"><ol><li id="fn:1"><p>The note.&nbsp;<a class="footnote-backref" href="#r">back</a></p></li></ol></div>', "Text[^1]\n\n[^1]: The note."),
        ('<p><img src=a.png alt="A picture"> <img src="data:image/png;base64,xx" data-src=b.png alt=B></p>', "![A picture](http://e.org/d/a.png) ![B](http://e.org/d/b.png)"),
        (r'<div class="math">\[a^2 + b_1\]</div><p>in <span class="math">\(x_1\)</span></p>', "$$\na^2 + b_1\n$$\n\nin $x_1$"),
        ('<p><span class="katex"><math><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math><span aria-hidden=true>x2</span></span></p>', "$x^2$"),
    ],
)  # fmt: skip
def test_what_sites_write(html: str, expected: str) -> None:
    assert markdown(html) == expected
