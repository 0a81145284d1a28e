import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRedirectTarget } from '../../../src/features/redirects/redirect-location.ts'
import { createRedirects } from '../../../src/features/redirects/redirects.ts'

test('an empty redirect_to is skipped: the next source or the referrer is used', () => {
  const redirects = createRedirects({
    siteUrl: 'https://site.example',
    allowList: [],
    isStrict: false,
  })
  const find = (header: string, query: string, inBody: string) =>
    findRedirectTarget(
      {
        header: (name) => (name === 'redirect_to' ? header : 'https://site.example/from'),
        query: { redirect_to: query },
        isSdk: false,
      },
      redirects,
      inBody,
    )
  const [a, b, c] = ['a', 'b', 'c'].map((path) => `https://site.example/${path}`)
  assert.equal(find(`${a}`, `${b}`, `${c}`), a)
  assert.equal(find('', `${b}`, `${c}`), b)
  assert.equal(find('', '', `${c}`), c)
  assert.equal(find('', '', ''), 'https://site.example/from')
})
