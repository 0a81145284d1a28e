import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeEntities } from '../../src/text/html-entities.ts'

const samples: Readonly<Record<string, string>> = {
  'a &lt;b&gt; &amp;amp;': 'a <b> &amp;',
  '?a=1&amp;b=2&AMP;c=3': '?a=1&b=2&c=3',
  '&#233;&#xE9;&#X1f600;': 'éé😀',
  '&quot;&apos;&hellip;&mdash;&copy;': '"\'…—©',
  'soft&shy;ly': 'softly',
}

for (const [html, text] of Object.entries(samples)) {
  test(`${html} is decoded to ${text}`, () => {
    assert.equal(decodeEntities(html), text)
  })
}

test('unknown entities are unchanged, and numbers without a character are removed', () => {
  for (const html of ['&nope;', '&Amp;', '&constructor;', '& b;', '&amp', '&#;', '&#12345678;']) {
    assert.equal(decodeEntities(html), html)
  }
  assert.equal(decodeEntities('a&#0;b&#x110000;c'), 'abc')
})
