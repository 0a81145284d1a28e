/**
 * @servers postgres, chromium
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataOf } from '../support/auth-js.ts'
import type { SitePage } from '../support/browser-page.ts'
import { openBrowserSite, type Tab } from '../support/browser-site.ts'
import { methodsOf } from '../support/factors.ts'
import { password } from '../support/http-client.ts'

declare const site: SitePage

/** Adds a virtual security key that stores passkeys and always consents. */
const securityKey = {
  protocol: 'ctap2',
  transport: 'usb',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const

async function plugIn(tab: Tab) {
  const cdp = await tab.page.context().newCDPSession(tab.page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: securityKey,
  })
  return {
    async passkeys() {
      const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
      return credentials
    },
    async replace(credential: Awaited<ReturnType<typeof this.passkeys>>[number]) {
      const { credentialId } = credential
      await cdp.send('WebAuthn.removeCredential', { authenticatorId, credentialId })
      await cdp.send('WebAuthn.addCredential', { authenticatorId, credential })
    },
  }
}

const listPasskeys = (tab: Tab) => tab.page.evaluate(() => site.client.passkey.list())

async function accessTokenOf(tab: Tab): Promise<string> {
  return dataOf(await tab.call('getSession')).session?.access_token ?? ''
}

test('passkeys with the real client in a browser', async (t) => {
  const webSite = await openBrowserSite(
    t,
    {
      AUTH_PASSKEY_ENABLED: 'true',
      AUTH_RATE_LIMIT_PASSKEY: '1000000',
      AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: 'true',
      AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED: 'true',
    },
    'localhost',
  )
  if (!webSite) return
  const { server, openBrowser } = webSite
  const { context, openTab } = await openBrowser()
  const tab = await openTab('/implicit')
  const authenticator = await plugIn(tab)
  const { id: userId, email } = await server.newUser()
  dataOf(await tab.call('signInWithPassword', { email, password }))

  await t.test('registerPasskey creates a passkey for the user', async () => {
    const made = dataOf(await tab.call('registerPasskey'))
    assert.equal(made.friendly_name, 'Passkey')
    const [passkey, ...others] = await authenticator.passkeys()
    assert.deepEqual(others, [])
    assert.deepEqual([passkey?.rpId, passkey?.isResidentCredential], ['localhost', true])
    assert.equal(Buffer.from(passkey?.userHandle ?? '', 'base64').toString(), userId)
    const listed = dataOf(await listPasskeys(tab))
    assert.deepEqual(listed, [made])
  })

  await t.test('the same authenticator cannot register twice', async () => {
    const { error } = await tab.call('registerPasskey')
    assert.equal(error?.code, 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED')
  })

  await t.test('signInWithPasskey signs in without an email address or password', async () => {
    dataOf(await tab.call('signOut').then(({ error }) => ({ data: null, error })))
    const before = (await tab.events()).length
    const { user } = dataOf(await tab.call('signInWithPasskey'))
    assert.equal(user?.id, userId)
    assert.deepEqual((await tab.events()).slice(before), ['SIGNED_IN'])
    assert.deepEqual(methodsOf(await accessTokenOf(tab)), ['passkey'])
    const [item] = dataOf(await listPasskeys(tab))
    assert.ok(item?.last_used_at)
  })

  await t.test('a passkey can be renamed, and administrators can see it', async () => {
    const [item] = dataOf(await listPasskeys(tab))
    const passkeyId = item?.id ?? ''
    const renamed = dataOf(
      await tab.page.evaluate(
        (id) => site.client.passkey.update({ passkeyId: id, friendlyName: 'Key ring' }),
        passkeyId,
      ),
    )
    assert.deepEqual([renamed.id, renamed.friendly_name], [passkeyId, 'Key ring'])
    assert.deepEqual(dataOf(await server.admin.passkey.listPasskeys({ userId })), [renamed])
  })

  await t.test('a cloned authenticator with a lower counter is refused', async () => {
    const [copied] = await authenticator.passkeys()
    assert.ok(copied && copied.signCount > 0)
    dataOf(await tab.call('signInWithPasskey'))
    const [present] = await authenticator.passkeys()
    assert.ok(present && present.signCount > copied.signCount)
    await authenticator.replace({ ...copied, signCount: copied.signCount - 1 })
    const { error } = await tab.call('signInWithPasskey')
    assert.equal(error?.code, 'webauthn_verification_failed')
    await authenticator.replace(present)
    dataOf(await tab.call('signInWithPasskey'))
  })

  await t.test('mfa.webauthn.register raises the session and keeps the passkey', async () => {
    const registered = dataOf(
      await tab.page.evaluate(() => site.client.mfa.webauthn.register({ friendlyName: 'Second' })),
    )
    assert.equal(registered?.user.factors?.[0]?.status, 'verified')
    assert.deepEqual(methodsOf(await accessTokenOf(tab)).toSorted(), ['mfa/webauthn', 'passkey'])
    const { user } = dataOf(await tab.call('signInWithPasskey'))
    assert.equal(user?.id, userId)
  })

  await t.test('mfa.webauthn.authenticate raises the next session', async () => {
    const { webauthn } = dataOf(await tab.page.evaluate(() => site.client.mfa.listFactors()))
    const factorId = webauthn[0]?.id ?? ''
    const levels = async () => {
      const { currentLevel, nextLevel } = dataOf(
        await tab.page.evaluate(() => site.client.mfa.getAuthenticatorAssuranceLevel()),
      )
      return [currentLevel, nextLevel]
    }
    assert.deepEqual(await levels(), ['aal1', 'aal2'])
    const refused = await tab.call('registerPasskey')
    assert.equal(refused.error?.code, 'insufficient_aal')
    dataOf(
      await tab.page.evaluate(
        (id) => site.client.mfa.webauthn.authenticate({ factorId: id }),
        factorId,
      ),
    )
    assert.deepEqual(await levels(), ['aal2', 'aal2'])
  })

  await t.test('a deleted passkey cannot sign in', async () => {
    const [item] = dataOf(await listPasskeys(tab))
    const passkeyId = item?.id ?? ''
    const deleted = await tab.page.evaluate(
      (id) => site.client.passkey.delete({ passkeyId: id }),
      passkeyId,
    )
    assert.equal(deleted.error, null)
    assert.deepEqual(dataOf(await listPasskeys(tab)), [])
    const { error } = await tab.call('signInWithPasskey')
    assert.deepEqual(
      [error?.code, error?.message],
      ['webauthn_verification_failed', 'Credential verification failed'],
    )
  })

  await t.test('administrators can delete passkeys', async () => {
    // The old key is still on the authenticator and must not interfere.
    const made = dataOf(await tab.call('registerPasskey'))
    const { error } = await server.admin.passkey.deletePasskey({ userId, passkeyId: made.id })
    assert.equal(error, null)
    assert.deepEqual(dataOf(await server.admin.passkey.listPasskeys({ userId })), [])
  })

  await context.close()
})
