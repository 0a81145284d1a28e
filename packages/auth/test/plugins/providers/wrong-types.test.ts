import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OutgoingError } from '../../../src/outgoing/http-client.ts'
import { providers } from '../../../src/plugins/providers/index.ts'
import {
  type ExternalProfile,
  ProfileError,
  toEmails,
  toIdentityData,
} from '../../../src/plugins/providers/oauth/external-profile.ts'
import { toProfile } from '../../../src/plugins/providers/oauth/profile-parts.ts'
import { findUnstorable } from '../../../src/stored-json.ts'
import type { Account, ProviderShape } from '../../support/provider-shape.ts'
import { providerShapes } from '../../support/provider-shapes/index.ts'

const wrong: readonly unknown[] = [
  ...[{}, { a: 1 }, [], ['x'], [{}], true, false, 0, 1.5, 1e30, null],
  ...['', 'x', 'a\u0000b', '\ud800', 'x'.repeat(5_000), '1', 'true'],
]

/** Yields the account once for each field at any depth and each wrong value. */
function* toVariants(account: unknown): Generator<unknown> {
  if (typeof account !== 'object' || account === null) return
  for (const [name, value] of Object.entries(account)) {
    const replace = (other: unknown) =>
      Array.isArray(account)
        ? account.map((each, at) => (`${at}` === name ? other : each))
        : { ...account, [name]: other }
    for (const other of wrong) yield replace(other)
    for (const variant of toVariants(value)) yield replace(variant)
  }
}

function readProfile(shape: ProviderShape, account: Account): Promise<ExternalProfile> {
  const definition = providers[shape.id as keyof typeof providers]
  const url = `https://provider.example${shape.basePath ?? ''}`
  const answer = (target: string, headers: Readonly<Record<string, string>> = {}) => {
    const targetUrl = new URL(target)
    const path = targetUrl.pathname.slice((shape.basePath ?? '').length)
    const request = { url: targetUrl, headers, accessToken: 'a', secret: 's' }
    // Convert the value as a JSON response would.
    return JSON.parse(JSON.stringify(shape.api[path]?.(account, request) ?? {}))
  }
  const iss = `${url}${shape.issuerPath ?? ''}`
  const claims = shape.idToken && { iss, ...shape.idToken(account) }
  const steps = definition.create({
    id: shape.id,
    clientIds: [`client of ${shape.id}`],
    secret: 's',
    redirectUri: 'https://auth.example/callback',
    at: { url, apiUrl: definition.toApiUrl?.(url) ?? url, isPublic: false },
    http: {
      fetchObject: async (target, request) => answer(target, request?.headers),
      fetchList: async (target) => [answer(target)].flat().filter((each) => Object(each) === each),
      fetch: () => Promise.reject(new Error('no request expected')),
    },
    openId: { verify: async () => claims ?? {} },
  })
  const idToken = `e30.${Buffer.from(JSON.stringify({ iss })).toString('base64url')}.x`
  const tokens = {
    accessToken: 'a',
    refreshToken: undefined,
    idToken: claims && idToken,
    response: shape.tokenFields?.(account) ?? {},
  }
  return steps.readProfile(tokens, { parameters: {}, memo: {} })
}

function isRefusal(error: unknown): boolean {
  if (error instanceof ProfileError || error instanceof OutgoingError) return true
  return error instanceof TypeError && error.message === 'The profile has no ID'
}

for (const shape of providerShapes) {
  test(`${shape.id}: a field of the wrong type is refused or omitted, and never stored`, async () => {
    let refused = 0
    for (const account of toVariants(shape.example.account)) {
      const what = JSON.stringify(account)
      let profile: ExternalProfile
      try {
        profile = await readProfile(shape, account as Account)
      } catch (error) {
        assert.ok(isRefusal(error), `${what}: ${error}`)
        refused += 1
        continue
      }
      assert.ok(typeof profile.id === 'string' && profile.id.length <= 255, what)
      for (const { email, isVerified, isPrimary } of profile.emails) {
        const types = [typeof email, typeof isVerified, typeof isPrimary]
        assert.deepEqual(types, ['string', 'boolean', 'boolean'], what)
      }
      const stored = toIdentityData({ ...profile, emails: toEmails(profile.emails) }, 65_536)
      assert.equal(findUnstorable(stored), undefined, what)
      const { custom_claims: _, email_verified, phone_verified, ...texts } = stored
      assert.deepEqual([typeof email_verified, phone_verified], ['boolean', false], what)
      for (const [name, value] of Object.entries(texts)) {
        assert.equal(typeof value, 'string', `${name} ${what}`)
      }
    }
    assert.ok(refused > 0)
  })
}

test('an address is verified only by an explicit value', async () => {
  const verifiedBy = async (id: string, account: Account) => {
    const shape = providerShapes.find((each) => each.id === id)
    assert.ok(shape)
    const { emails } = await readProfile(shape, { ...shape.example.account, ...account })
    return emails.map(({ isVerified }) => isVerified)
  }
  for (const xms_edov of [['1'], [1], { 1: 1 }, 'yes', 2]) {
    assert.deepEqual(await verifiedBy('azure', { xms_edov }), [false])
  }
  for (const confirmed_at of [{}, [], true, 1, null, '']) {
    assert.equal((await verifiedBy('gitlab', { confirmed_at }))[0], false)
  }
})

test('numbers outside the safe integer range are not accepted as ids', () => {
  const read = (id: unknown) => toProfile({ id, issuer: '', emails: [] }).id
  assert.equal(read(9_007_199_254_740_991), '9007199254740991')
  for (const id of [2 ** 53, 1.5, Number.NaN]) {
    assert.throws(() => read(id), ProfileError)
  }
})
