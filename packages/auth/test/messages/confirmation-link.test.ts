import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailKinds } from '../../src/config/mail/messages.ts'
import { toConfirmationUrl, toExternalUrl } from '../../src/features/redirects/confirmation-link.ts'
import { toMessagePayload } from '../../src/messages/requests/mail-plan.ts'

const link = {
  kind: 'confirmation',
  externalUrl: 'https://x.example/auth/v1',
  path: '/verify',
  tokenHash: 'abc',
  redirectTo: 'https://site.example/a?b=1&c=2#d',
} as const

const query = 'token=abc&type=signup&redirect_to=https://site.example/a%3Fb%3D1%26c%3D2%23d'

test('a path is joined to the external URL', async (t) => {
  const cases: readonly (readonly [externalUrl: string, path: string, expected: string])[] = [
    ['https://x.example', '/verify', 'https://x.example/verify?'],
    ['https://x.example/', 'verify', 'https://x.example/verify?'],
    ['https://x.example/auth/v1', '/verify', 'https://x.example/auth/v1/verify?'],
    ['https://x.example/auth/v1/', '/verify', 'https://x.example/auth/v1/verify?'],
    ['https://x.example/auth/v1', '/auth/v1/verify', 'https://x.example/auth/v1/verify?'],
    ['https://x.example/auth/v1', '/auth/v10/verify', 'https://x.example/auth/v1/auth/v10/verify?'],
    ['https://x.example:8443/a', '/verify', 'https://x.example:8443/a/verify?'],
    ['https://x.example', 'https://app.example/confirm', 'https://app.example/confirm?'],
    ['https://x.example', 'https://app.example/confirm?l=de', 'https://app.example/confirm?l=de&'],
    ['https://x.example', '/verify?', 'https://x.example/verify?'],
  ]
  for (const [externalUrl, path, expected] of cases) {
    await t.test(`${path} below ${externalUrl}`, () => {
      assert.equal(toConfirmationUrl({ ...link, externalUrl, path }), expected + query)
    })
  }
})

test('the query precedes the fragment', () => {
  const url = toConfirmationUrl({ ...link, path: 'https://app.example/#/confirm' })
  assert.equal(url, `https://app.example/?${query}#/confirm`)
})

test('every message with a link has its own type', () => {
  const kinds = mailKinds.filter((kind) => kind !== 'reauthentication')
  const types = kinds.map((kind) =>
    new URL(toConfirmationUrl({ ...link, kind })).searchParams.get('type'),
  )
  assert.deepEqual(types, ['invite', 'signup', 'recovery', 'magiclink', 'email_change'])
  assert.throws(() => toConfirmationUrl({ ...link, kind: 'reauthentication' }), TypeError)
})

test('a redirect survives encoding and decoding', () => {
  for (const redirectTo of ['https://s/?a=b&token=evil', 'myapp://cb', 'https://s/ä ö+%20', '']) {
    const { searchParams } = new URL(toConfirmationUrl({ ...link, redirectTo }))
    assert.equal(searchParams.get('redirect_to'), redirectTo)
    assert.deepEqual(searchParams.getAll('token'), ['abc'])
  }
})

test('only an allowed host changes the external URL', async (t) => {
  const settings = {
    externalUrl: 'https://x.example/auth/v1',
    externalHosts: ['other.example', 'Third.example:8443'],
  }
  const cases: readonly (readonly [
    host: string | undefined,
    proto: string | undefined,
    expected: string,
  ])[] = [
    [undefined, undefined, 'https://x.example/auth/v1'],
    ['other.example', 'https', 'https://other.example/auth/v1'],
    ['OTHER.example', 'http', 'https://other.example/auth/v1'],
    ['other.example', undefined, 'https://other.example/auth/v1'],
    ['other.example', 'javascript', 'https://other.example/auth/v1'],
    ['other.example, evil.example', 'https, http', 'https://other.example/auth/v1'],
    ['evil.example, other.example', 'https', 'https://x.example/auth/v1'],
    ['third.example:8443', 'https', 'https://third.example:8443/auth/v1'],
    ['third.example', 'https', 'https://x.example/auth/v1'],
    ['other.example:1', 'https', 'https://x.example/auth/v1'],
    ['other.example/evil', 'https', 'https://x.example/auth/v1'],
    ['a@other.example', 'https', 'https://x.example/auth/v1'],
    ['', 'https', 'https://x.example/auth/v1'],
  ]
  for (const [host, proto, expected] of cases) {
    await t.test(`${host} ${proto}`, () => {
      assert.equal(toExternalUrl({ ...settings, host, proto }), expected)
    })
  }
})

test('a payload has the documented template variables', () => {
  const any = { siteUrl: 'https://s', email: 'a@b.c', token: '123456', data: { name: 'A' } }
  assert.deepEqual(toMessagePayload({ ...any, kind: 'reauthentication' }), {
    SiteURL: 'https://s',
    Email: 'a@b.c',
    Token: '123456',
    Data: { name: 'A' },
  })
  const change = {
    ...any,
    ...link,
    kind: 'email_change',
    newEmail: 'n@b.c',
    sendingTo: 'a@b.c',
  } as const
  assert.deepEqual(toMessagePayload(change), {
    SiteURL: 'https://s',
    Email: 'a@b.c',
    Token: '123456',
    Data: { name: 'A' },
    ConfirmationURL: `https://x.example/auth/v1/verify?${query.replace('signup', 'email_change')}`,
    TokenHash: 'abc',
    RedirectTo: link.redirectTo,
    NewEmail: 'n@b.c',
    SendingTo: 'a@b.c',
  })
})
