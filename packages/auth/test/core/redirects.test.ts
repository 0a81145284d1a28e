import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRedirectPattern } from '../../src/core/redirect-pattern.ts'
import { createRedirects } from '../../src/core/redirects.ts'

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

test('every URI that shares the host of the site is permitted, whatever its port and path', () => {
  for (const url of [
    'https://site.example',
    'http://site.example/x?y#z',
    'https://SITE.example:8443/deep/er',
  ]) {
    assert.equal(isPermitted(url), true, url)
  }
})

test('patterns match one label or segment with *, any run with **', () => {
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

test('no trick makes another place look like a permitted one', () => {
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

test('strict mode wants scheme and port too, but any port of this machine', () => {
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

test('the verdict says why', () => {
  assert.match(redirects.judge('https://docs.example.com/x').reason, /matches https:\/\/docs/)
  assert.match(redirects.judge('https://evil.example').reason, /not on the host.*no pattern/)
})

test('a pattern that cannot be read is refused at the start', () => {
  assert.throws(() => parseRedirectPattern('https://a[b.example'), /a \[ without its \]/)
  assert.throws(() => parseRedirectPattern('https://{a.example'), /braces that do not match/)
  assert.throws(() => parseRedirectPattern('example.com'), /has no scheme/)
})
