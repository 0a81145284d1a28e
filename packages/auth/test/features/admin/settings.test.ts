/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { EffectiveSetting } from '@portcullis/service-kit/settings/effective-settings'
import type { AnyVariable } from '@portcullis/service-kit/settings/env'
import { loadConfig } from '../../../src/commands/read-config.ts'
import { chapters } from '../../../src/config/config.ts'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { send } from '../../support/http-client.ts'
import { openMailServer } from '../../support/mail-server.ts'

const variables: readonly AnyVariable[] = Object.values(chapters).flatMap((chapter) =>
  Object.values<AnyVariable>(chapter.variables),
)

test('the source of a setting names the file, and a later file wins', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'auth-settings-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [first, second] = [join(folder, '1.env'), join(folder, '2.env')]
  writeFileSync(first, 'AUTH_SITE_URL=https://one.example\nGOTRUE_JWT_EXP=60\n')
  writeFileSync(second, 'AUTH_SITE_URL=https://two.example\nAUTH_JWT_AUD=file\n')
  const env = { AUTH_JWT_AUD: 'environment' }
  const { effective } = loadConfig(env, { config: first, 'config-dir': folder }).config
  const find = (name: string) => {
    const {
      source,
      file,
      set_as: setAs,
      value,
    } = effective.find((each) => each.name === name) ?? {}
    return { source, file, setAs, value }
  }
  assert.deepEqual(find('AUTH_SITE_URL'), {
    source: 'file',
    file: second,
    setAs: undefined,
    value: 'https://two.example',
  })
  assert.deepEqual(find('AUTH_JWT_EXP'), {
    source: 'file',
    file: first,
    setAs: 'GOTRUE_JWT_EXP',
    value: '60',
  })
  const aud = { source: 'environment', file: undefined, setAs: undefined, value: 'environment' }
  assert.deepEqual(find('AUTH_JWT_AUD'), aud)
})

test('GET /admin/settings', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
    AUTH_EXTERNAL_GITHUB_CLIENT_ID: 'github-client',
    AUTH_EXTERNAL_GITHUB_SECRET: 'github-secret',
    AUTH_EXTERNAL_GITHUB_REDIRECT_URI: 'https://auth.example/callback',
    AUTH_EXTERNAL_KEYCLOAK_CLIENT_ID: 'keycloak-client',
    AUTH_API_EXTERNAL_URL: 'https://auth.example',
    AUTH_SMTP_PASS: 'smtp-secret',
  })
  if (!server) return
  const { url, serviceToken: token } = server

  await t.test('returns all settings with their sources, and no secret', async () => {
    const { status, body, headers } = await send(url, '/admin/settings', { token })
    assert.equal(status, 200)
    assert.equal(headers.get('cache-control'), 'no-store')
    const settings: readonly EffectiveSetting[] = body.settings
    assert.equal(settings.length, variables.length)
    const find = (name: string) => settings.find((setting) => setting.name === name)
    const enabled = find('AUTH_EXTERNAL_GITHUB_ENABLED')
    assert.deepEqual(
      [enabled?.source, enabled?.value, enabled?.is_changed],
      ['environment', 'true', true],
    )
    assert.equal(find('AUTH_EXTERNAL_GITLAB_ENABLED')?.source, 'default')
    const text = JSON.stringify(body)
    for (const secret of [
      'github-secret',
      'smtp-secret',
      find('AUTH_JWT_SECRET')?.value ?? 'none',
    ]) {
      if (secret !== 'none') assert.ok(!text.includes(secret))
    }
  })

  await t.test('lists the providers with their missing variables, enabled ones first', async () => {
    const { providers } = (await send(url, '/admin/settings', { token })).body
    assert.deepEqual(providers[0], {
      id: 'github',
      is_enabled: true,
      missing: [],
      callback_url: 'https://auth.example/callback',
      client_ids: ['github-client'],
    })
    const keycloak = providers.find(({ id }: { id: string }) => id === 'keycloak')
    assert.deepEqual(keycloak, {
      id: 'keycloak',
      is_enabled: false,
      missing: ['ENABLED', 'SECRET', 'REDIRECT_URI', 'URL'].map(
        (name) => `AUTH_EXTERNAL_KEYCLOAK_${name}`,
      ),
      callback_url: 'https://auth.example/callback',
      client_ids: ['keycloak-client'],
    })
  })

  await t.test('requires an administrator', async () => {
    const { access_token: own } = (await server.post('/signup', {})).body
    for (const path of ['/admin/settings', '/admin/mail-templates']) {
      assert.equal((await send(url, path)).status, 401)
      if (own !== undefined) assert.equal((await send(url, path, { token: own })).status, 403)
    }
  })
})

test('GET /admin/mail-templates and POST /admin/mail-templates/test', async (t) => {
  const mail = await openMailServer(t)
  const server = await openFlowServer(t, {
    AUTH_SMTP_PORT: `${mail.port}`,
    AUTH_MAILER_SUBJECTS_INVITE: 'Welcome, {{ .Data.name }}',
    AUTH_MAILER_TEMPLATES_RECOVERY: 'http://127.0.0.1:1/recovery.html',
    AUTH_MAILER_NOTIFICATIONS_EMAIL_CHANGED_ENABLED: 'true',
    AUTH_RATE_LIMIT_EMAIL_SENT: '3',
    AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES: 'operator@site.example',
  })
  if (!server) return
  const { url, serviceToken: token } = server
  const sendTest = (body: object) => send(url, '/admin/mail-templates/test', { token, body })

  await t.test('shows every template with its variables', async () => {
    const { status, body } = await send(url, '/admin/mail-templates', { token })
    assert.equal(status, 200)
    assert.equal(body.sender, 'smtp')
    assert.equal(body.templates.length, 13)
    const find = (name: string) =>
      body.templates.find((template: { name: string }) => template.name === name)
    const invite = find('invite')
    assert.equal(invite.subject, 'Welcome, Ada Lovelace')
    assert.match(invite.html, /example-token/)
    assert.match(invite.text, /example-token/)
    assert.deepEqual(
      [invite.is_enabled, invite.is_custom, invite.problem],
      [true, false, undefined],
    )
    const names = invite.variables.map((variable: { name: string }) => variable.name)
    assert.deepEqual(names, [
      '.ConfirmationURL',
      '.Token',
      '.TokenHash',
      '.SiteURL',
      '.RedirectTo',
      '.Email',
      '.Data.name',
    ])
    for (const { variables: listed } of body.templates) {
      for (const { name, example, meaning } of listed) assert.ok(example && meaning, name)
    }
    assert.equal(find('email_changed_notification').is_enabled, true)
    assert.match(find('email_changed_notification').text, /previous@example\.com/)
    assert.equal(find('phone_changed_notification').is_enabled, false)
    assert.match(find('phone_changed_notification').html, /15550100/)
  })

  await t.test('says why a configured template is not used', async () => {
    const { templates } = (await send(url, '/admin/mail-templates', { token })).body
    const recovery = templates.find(({ name }: { name: string }) => name === 'recovery')
    assert.equal(recovery.is_custom, true)
    assert.ok(recovery.problem.length > 0)
    assert.match(recovery.html, /Reset your password/)
  })

  await t.test('sends a template to an address and writes an audit entry', async () => {
    const email = 'operator@site.example'
    const { status, body } = await sendTest({ template: 'invite', email: email.toUpperCase() })
    assert.deepEqual([status, body], [200, { template: 'invite', email }])
    const [received] = await mail.waitFor(1)
    assert.deepEqual(received?.to, [email])
    assert.equal(received?.headers.get('subject'), 'Welcome, Ada Lovelace')
    assert.match(received?.parts.get('text/plain') ?? '', /example-token/)
    assert.match(received?.parts.get('text/html') ?? '', /Accept the invitation/)
    const [entry] = await server.query(
      "select payload from audit_log_entries where payload ->> 'action' = 'test_email_requested'",
    )
    assert.equal(entry.payload.actor_username, 'service_role')
    assert.deepEqual(entry.payload.traits, { template: 'invite', recipient: email })
  })

  await t.test(
    'refuses unknown templates and addresses, and requires an administrator',
    async () => {
      const email = 'operator@site.example'
      assert.match(
        String(errorOf(await sendTest({ template: 'no', email }))[2]),
        /^template must be one of/,
      )
      assert.equal((await sendTest({ template: 'invite' })).status, 400)
      const other = await sendTest({ template: 'invite', email: 'other@site.example' })
      assert.equal(other.body.error_code, 'email_address_not_authorized')
      const body = { template: 'invite', email }
      assert.equal((await send(url, '/admin/mail-templates/test', { body })).status, 401)
      assert.equal(mail.received.length, 1)
    },
  )

  await t.test('a test email counts towards the email limit of the server', async () => {
    const request = { template: 'password_changed_notification', email: 'operator@site.example' }
    assert.equal((await sendTest(request)).status, 200)
    assert.equal((await sendTest(request)).status, 200)
    const refused = await sendTest(request)
    assert.deepEqual([refused.status, refused.body.error_code], [429, 'over_email_send_rate_limit'])
    assert.equal(mail.received.length, 3)
    const entries = await server.query(
      "select 1 from audit_log_entries where payload ->> 'action' = 'test_email_requested'",
    )
    assert.equal(entries.length, 3)
  })
})

test('the answer of the mail server is reported if it refuses a test', async (t) => {
  const mail = await openMailServer(t, {
    onRcptTo(_address, _session, callback) {
      callback(Object.assign(new Error('mailbox unavailable'), { responseCode: 550 }))
    },
  })
  const server = await openFlowServer(t, { AUTH_SMTP_PORT: `${mail.port}` })
  if (!server) return
  const { url, serviceToken: token } = server
  const body = { template: 'invite', email: 'operator@site.example' }
  const refused = await send(url, '/admin/mail-templates/test', { token, body })
  assert.deepEqual([refused.status, refused.body.error_code], [422, 'email_send_failed'])
  assert.match(
    refused.body.msg,
    /^The mail server did not accept the message: .*mailbox unavailable/,
  )
})

test('without a mail server, or with a hook, a test says what to do', async (t) => {
  const none = { AUTH_MAILER_AUTOCONFIRM: 'true', AUTH_SMTP_HOST: '' }
  const hook = {
    AUTH_HOOK_SEND_EMAIL_ENABLED: 'true',
    AUTH_HOOK_SEND_EMAIL_URI: 'http://127.0.0.1:1/hook',
    AUTH_HOOK_SEND_EMAIL_SECRETS: `v1,whsec_${Buffer.from('s'.repeat(32)).toString('base64')}`,
  }
  for (const [env, sender, reason] of [
    [none, 'none', /^No mail server is configured\. Set AUTH_SMTP_HOST/],
    [hook, 'hook', /^A hook sends email .* Test the hook instead/],
  ] as const) {
    const server = await openFlowServer(t, env)
    if (!server) return
    const { url, serviceToken: token } = server
    assert.equal((await send(url, '/admin/mail-templates', { token })).body.sender, sender)
    const body = { template: 'invite', email: 'operator@site.example' }
    const refused = await send(url, '/admin/mail-templates/test', { token, body })
    assert.equal(refused.status, 422)
    assert.match(refused.body.msg, reason)
  }
})
