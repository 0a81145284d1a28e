import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCode, findLinks, toPlainText } from '../../src/mailbox/find-links.ts'
import { toFrameDocument } from '../../src/mailbox/frame-document.ts'
import type { CaughtMessage } from '../../src/mailbox/mailbox.ts'

const urls = (html: string | undefined, text = '') => findLinks(html, text).map(({ url }) => url)

test('the button of a mail comes before its other links', () => {
  const html = `
    <p>See <a href="https://example.com/help">help</a>.</p>
    <a class="x" href="https://example.com/verify?a=1&amp;b=2" style="display: inline-block; padding: 1px">
      Confirm <b>your</b>&nbsp;address </a>
    <a href='https://example.com/verify?a=1&amp;b=2'>again</a> <a href=https://example.com/end>end</a>`
  assert.deepEqual(findLinks(html, ''), [
    { url: 'https://example.com/verify?a=1&b=2', label: 'Confirm your address' },
    { url: 'https://example.com/help', label: 'help' },
    { url: 'https://example.com/end', label: 'end' },
  ])
})

test('without a button the link with a token comes first', () => {
  const html =
    '<a href="https://example.com/">us</a> <a href="http://localhost:8081/verify?token=abc&type=signup">here</a>'
  assert.equal(urls(html)[0], 'http://localhost:8081/verify?token=abc&type=signup')
})

test('in a mail without HTML, a link on its own line comes before the other links', () => {
  const text = `Finish signing up at https://example.com/try.

Confirm your address:
https://example.com/verify?token=abc

(See https://example.com/a, or https://example.com/b)`
  assert.deepEqual(urls(undefined, text), [
    'https://example.com/verify?token=abc',
    'https://example.com/try',
    'https://example.com/a',
    'https://example.com/b',
  ])
})

test('only http and https URLs are links', () => {
  const hrefs = [
    'javascript:alert(1)',
    'java&#115;cript:alert(1)',
    ' JAVASCRIPT://example.com/%0aalert(1)',
    'data:text/html,x',
    'mailto:ada@example.com',
    'file:///etc/passwd',
    '/verify',
    '#top',
    '',
  ]
  assert.deepEqual(urls(hrefs.map((href) => `<a href="${href}">x</a>`).join('')), [])
})

test('hidden links are ignored', () => {
  const html = `<!-- <a href="https://example.com/1">1</a> --><style>a{}</style>
    <script>"<a href='https://example.com/2'>"</script><template><a href="https://example.com/3"></template>
    <a href="https://example.com/4">4`
  assert.deepEqual(urls(html), ['https://example.com/4'])
})

const codes: readonly (readonly [string, string | undefined])[] = [
  ['Confirm\n\nOr enter this code:\n\n123456\n\nBye', '123456'],
  ['Your code:\n  0012345678  ', '0012345678'],
  ['Your code is 123456', '123456'],
  ['Your code is 123456\n@example.com #123456', '123456'],
  ['123456 is your number of guests', undefined],
  ['12345\n\n12345678901', undefined],
  ['https://example.com/verify?code=123456', undefined],
  ['Call us: +1 555 010 0199, invoice 20261115', undefined],
]

for (const [text, code] of codes) {
  test(`the code of ${JSON.stringify(text)} is ${code}`, () => {
    assert.equal(findCode(text), code)
  })
}

test('large invalid HTML is parsed in linear time', () => {
  const size = 300_000
  const pages = [
    '<'.repeat(size),
    '<a '.repeat(size),
    '<script>'.repeat(size / 8),
    '<!--'.repeat(size / 4),
    '<a href="'.repeat(size / 9),
    `<a href="https://example.com/${'.'.repeat(size)}x">`,
    '&#x'.repeat(size / 3),
  ]
  for (const page of pages) {
    assert.equal(typeof toPlainText(page), 'string')
    assert.ok(findLinks(page, page).length <= 50)
    assert.equal(findCode(page), undefined)
  }
})

const mail: CaughtMessage = {
  kind: 'email',
  id: '1',
  receivedAt: 0,
  from: '',
  to: [],
  subject: '',
  excerpt: '',
  sizeBytes: 0,
  isRead: false,
  text: '',
  links: [],
  attachments: [],
}

test('embedded images of a mail are shown, but no other attachments', () => {
  const content = Buffer.from('content')
  const document = toFrameDocument({
    ...mail,
    html: '<!DOCTYPE html><html><img src="cid:a@b"><img src=cid:page><img src="cid:other">',
    attachments: [
      { name: 'a.png', type: 'image/png', content, contentId: 'a@b' },
      { name: 'b.html', type: 'text/html', content, contentId: 'page' },
    ],
  })
  assert.match(document, /^<!DOCTYPE html><base target="_blank">/)
  assert.match(document, /<img src="data:image\/png;base64,Y29udGVudA=="><img src=cid:page>/)
  assert.match(document, /<img src="cid:other">$/)
})

test('elements that would preconnect to other servers are removed from a mail', () => {
  const html = '<LINK rel=preconnect href="//x.example"><link/rel=dns-prefetch><p>A <linker>'
  const framed = '<iframe srcdoc="&lt;link rel=preconnect href=//x.example>"></iframe>'
  const document = toFrameDocument({ ...mail, html: html + framed })
  assert.doesNotMatch(document, /<(?:link|iframe)[\s/>]/i)
  assert.match(document, /<p>A <linker>/)
})
