import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRedirectPattern } from '../../../src/config/redirect-patterns.ts'
import { createRedirects } from '../../../src/features/redirects/redirects.ts'

const redirects = createRedirects({
  siteUrl: 'https://site.example:3000/app',
  allowList: [
    'https://*.foo.example.com',
    'https://docs.example.com/*',
    'https://any.example.com/**',
    'myapp://callback',
    'http://localhost:*/**',
    'https://exact.example.com/docs',
    'https://{one,two}.example.com/[a-c]?',
  ],
  isStrict: false,
})
const isPermitted = (url: string) => redirects.judge(url).isPermitted

test('every URI on the host of the site is permitted, regardless of port and path', () => {
  for (const url of [
    'https://site.example',
    'http://site.example/x?y#z',
    'https://SITE.example:8443/deep/er',
  ]) {
    assert.equal(isPermitted(url), true, url)
  }
})

test('in patterns, * matches within one label or segment and ** matches any sequence', () => {
  const expected: Readonly<Record<string, boolean>> = {
    'https://a.foo.example.com': true,
    'https://a.foo.example.com/': true,
    'https://a.b.foo.example.com': false,
    'https://a.foo.example.com/page': false,
    'https://docs.example.com/page1': true,
    'https://docs.example.com/page1?x=1': true,
    'https://docs.example.com/a/b': false,
    'https://any.example.com/a/b?c=d#fragment': true,
    'myapp://callback': true,
    'myapp://other': false,
    'http://localhost:5173/a/b': true,
    'https://exact.example.com/docs': true,
    'https://exact.example.com/docss': false,
    'https://exact.example.com/docs/x': false,
    'https://one.example.com/bx': true,
    'https://two.example.com/cx': true,
    'https://three.example.com/cx': false,
    'https://one.example.com/dx': false,
  }
  for (const [url, permitted] of Object.entries(expected)) {
    assert.equal(isPermitted(url), permitted, url)
  }
})

test('a URL cannot be disguised as a permitted one', () => {
  for (const url of [
    'https://evil.example',
    'https://site.example@evil.example',
    'https://evil.example\\@site.example',
    'https://site.example.evil.example',
    'https://evil.example?https://site.example',
    'https://evil.example#https://site.example',
    'https://evil.example/https://site.example',
    'https://evil.example?.foo.example.com',
    'https://evil.example#.foo.example.com',
    'https://evil.example/.foo.example.com',
    'https://evil.example%2f.foo.example.com',
    'https://evil.example:pw@a.foo.example.com',
    'https://evil.example%00.foo.example.com',
    '//evil.example',
    '/relative',
    'javascript:alert(1)',
    'javascript://site.example/%0aalert(1)',
    'data:text/html,x',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://[::ffff:1.2.3.4]/',
    'https://1.2.3.4/',
    'https://site.example.',
    'https://site\t.example',
    'https://site.example\n.evil.example',
    'https://sitе.example/',
    ' https://site.example',
    '',
  ]) {
    assert.equal(isPermitted(url), false, url)
  }
})

test('strict mode also compares scheme and port, but allows any port on localhost', () => {
  const strict = createRedirects({
    siteUrl: 'https://site.example:3000',
    allowList: [],
    isStrict: true,
  })
  assert.equal(strict.judge('https://site.example:3000/x').isPermitted, true)
  assert.equal(strict.judge('https://site.example/x').isPermitted, false)
  assert.equal(strict.judge('http://site.example:3000/x').isPermitted, false)
  const local = createRedirects({ siteUrl: 'http://localhost:3000', allowList: [], isStrict: true })
  assert.equal(local.judge('http://localhost:5173').isPermitted, true)
})

test('the verdict includes the reason', () => {
  assert.match(redirects.judge('https://docs.example.com/x').reason, /matches https:\/\/docs/)
  assert.match(redirects.judge('https://evil.example').reason, /not the host.*no pattern/)
})

test('an invalid pattern is refused at start', () => {
  assert.throws(() => parseRedirectPattern('https://a[b.example'), /a \[ without a closing \]/)
  assert.throws(() => parseRedirectPattern('https://{a.example'), /unbalanced braces/)
  assert.throws(() => parseRedirectPattern('https://a}.example'), /unbalanced braces/)
  assert.throws(() => parseRedirectPattern('https://a.example/[z-a]'), /range z-a/)
  assert.throws(() => parseRedirectPattern('https://b\u00fccher-*.example'), /in ASCII letters/)
  assert.throws(() => parseRedirectPattern('example.com'), /has no scheme/)
})

test('patterns are compared with normalized URLs', () => {
  const expected: Readonly<
    Record<string, readonly [yes: readonly string[], no: readonly string[]]>
  > = {
    'https://b\u00fccher.example/\u00e4': [
      ['https://b\u00fccher.example/\u00e4', 'https://xn--bcher-kva.example/%C3%A4'],
      ['https://bcher.example/%C3%A4', 'https://xn--bcher-kva.example/a'],
    ],
    'https://a.example/%C3%A4/[\u00e4-\u00fc]?': [
      ['https://a.example/\u00e4/\u00f6\u0100', 'https://a.example/%c3%a4/%C3%B6x'],
      ['https://a.example/\u00e4/o\u0100', 'https://a.example/\u00e4/\u00f6'],
    ],
    'https://a.example:443/x': [['https://a.example/x', 'https://a.example:443/x'], []],
    'http://a.example:80': [['http://a.example', 'http://a.example:80/'], ['http://a.example:81']],
    'https://a.example/': [['https://a.example', 'https://a.example/'], ['https://a.example/x']],
    'https://a.example?x=*': [['https://a.example?x=1', 'https://a.example/?x=1'], []],
    'http*://a.example': [['http://a.example', 'https://a.example/'], ['https://a.example/x']],
    'myapp:callback': [['myapp:callback'], ['myapp://callback', 'myapp:/callback']],
    'myapp:/callback': [['myapp:/callback'], ['myapp:callback', 'myapp://callback']],
    'myapp://Login': [
      ['myapp://login', 'myapp://LOGIN/'],
      ['myapp:login', 'myapp://login/x'],
    ],
  }
  for (const [pattern, [yes, no]] of Object.entries(expected)) {
    const { judge } = createRedirects({
      siteUrl: 'https://site.example',
      allowList: [pattern],
      isStrict: false,
    })
    for (const url of yes) assert.equal(judge(url).isPermitted, true, `${pattern} ${url}`)
    for (const url of no) assert.equal(judge(url).isPermitted, false, `${pattern} ${url}`)
  }
})

test('a trailing ** also matches what follows the host, but no other scheme', () => {
  const { judge } = createRedirects({
    siteUrl: 'https://site.example',
    allowList: ['myapp://**', 'com.app://**', 'https://preview-**'],
    isStrict: false,
  })
  for (const url of [
    ...['myapp://', 'myapp://login', 'myapp://login/x', 'myapp://login/x?y=z', 'myapp:///x'],
    ...['com.app://login/x', 'com.app://', 'https://preview-1.example/a/b?c'],
  ]) {
    assert.equal(judge(url).isPermitted, true, url)
  }
  for (const url of [
    'myapp:login',
    'myapp:/login',
    'myapp2://login',
    'comxapp://x',
    'https://x.y/a',
  ]) {
    assert.equal(judge(url).isPermitted, false, url)
  }
})

test('normalizing a redirect URL twice gives the same result', () => {
  for (const url of [
    'https://SITE.example:3000?\u0100#\u{1f600}',
    'https://any.example.com/a/./b/%2e%2e/%7e?%27',
    'myapp://callback',
  ]) {
    const first = redirects.judge(url)
    assert.ok(first.isPermitted, url)
    const second = redirects.judge(first.target)
    assert.ok(second.isPermitted && second.target === first.target, first.target)
  }
})
