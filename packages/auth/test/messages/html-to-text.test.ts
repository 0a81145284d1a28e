import assert from 'node:assert/strict'
import { test } from 'node:test'
import { htmlToText } from '../../src/messages/mail/html-to-text.ts'

test('HTML is converted to plain text', async (t) => {
  const cases: readonly (readonly [title: string, html: string, text: string])[] = [
    ['paragraphs', '<h1>Hi</h1>\n<p>One\n two</p><p>three</p>', 'Hi\n\nOne two\n\nthree'],
    [
      'a link',
      '<p><a href="https://x/?a=1&amp;b=2">Go <b>on</b></a></p>',
      'Go on:\nhttps://x/?a=1&b=2',
    ],
    ['a link whose label is its URL', "<a href='https://x'>https://x</a>", 'https://x'],
    ['a link to a fragment', '<a href="#top">up</a>', 'up'],
    ['an unclosed link', '<a href=https://x>go', 'go:\nhttps://x'],
    ['lists', '<ul><li>a</li><li>b</li></ul>', '- a\n\n- b'],
    ['line ends', 'a<br>b<BR />c', 'a\nb\nc'],
    [
      'invisible elements',
      '<head><title>t</title></head><STYLE>p{}</STYLE>a<script>x</script>b<!-- c -->d',
      'abd',
    ],
    ['entities', 'a &lt;b&gt; &amp;amp; &#233;&#xe9;&nbsp;&nope;', 'a <b> &amp; éé &nope;'],
    ['a bracket that does not start a tag', '1 < 2 > 0', '1 < 2 > 0'],
    ['an unclosed tag', 'a <b', 'a'],
    ['escaped tags', '&lt;script&gt;', '<script>'],
  ]
  for (const [title, html, text] of cases) {
    await t.test(title, () => assert.equal(htmlToText(html), text))
  }
})

test('a malformed page of one megabyte is converted in linear time', () => {
  for (const piece of ['<', '<!--', '<a ', '<style>', '<a href="x">', '&#', '<a href="']) {
    const page = piece.repeat(1_000_000 / piece.length)
    assert.equal(typeof htmlToText(page), 'string')
  }
})
