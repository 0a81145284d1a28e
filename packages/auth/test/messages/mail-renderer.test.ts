import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { parseConfig } from '../../src/config/config.ts'
import {
  mailKinds,
  type NotificationKind,
  notificationKinds,
} from '../../src/config/mail/messages.ts'
import { createMailRenderer } from '../../src/messages/mail/mail-renderer.ts'
import { UndeliverableError } from '../../src/messages/sending/failures.ts'

const variables = {
  SiteURL: 'https://site.example',
  Email: 'ada@example.com',
  NewEmail: 'new@example.com',
  SendingTo: 'new@example.com',
  Token: '123456',
  TokenHash: 'abcdef',
  RedirectTo: 'https://site.example/in',
  ConfirmationURL: 'https://auth.example/verify?token=abcdef&type=signup',
  Data: { name: '<b>Ada</b>' },
}

function createRenderer(env: Readonly<Record<string, string>> = {}, siteUrl = variables.SiteURL) {
  const log: string[] = []
  const { config } = parseConfig({ AUTH_SITE_URL: siteUrl, ...env })
  const add = (text: unknown) => void log.push(String(text))
  const renderer = createMailRenderer({
    mail: config.mail,
    siteUrl,
    log: { warning: add, info: add },
  })
  return { renderer, log }
}

const subjects = {
  invite: 'You have been invited',
  confirmation: 'Confirm Your Signup',
  recovery: 'Reset Your Password',
  magic_link: 'Your Magic Link',
  email_change: 'Confirm Email Change',
  reauthentication: 'Confirm Reauthentication',
}

test('every built-in message has a heading, the code, and a link if its type has one', async (t) => {
  const { renderer, log } = createRenderer()
  for (const kind of mailKinds) {
    await t.test(kind, async () => {
      const { subject, html, text } = await renderer.render(kind, variables)
      assert.equal(subject, subjects[kind])
      assert.match(html, /<h1[^>]*>[^<]+<\/h1>/)
      for (const part of [html, text]) {
        assert.ok(part.includes('123456'), 'the code')
        assert.ok(part.includes('https://site.example'), 'the site')
        assert.ok(!part.includes('{{'))
      }
      const hasLink = kind !== 'reauthentication'
      assert.equal(
        html.includes('href="https://auth.example/verify?token=abcdef&amp;type=signup"'),
        hasLink,
      )
      assert.equal(
        text.includes('\nhttps://auth.example/verify?token=abcdef&type=signup\n'),
        hasLink,
      )
      assert.equal(html.includes('new@example.com'), kind === 'email_change')
    })
  }
  assert.deepEqual(log, [])
})

test('every built-in notification describes the change and has no link', async (t) => {
  const facts: Readonly<Record<NotificationKind, readonly string[]>> = {
    password_changed: [],
    email_changed: ['old@example.com'],
    phone_changed: ['15550001', '15550002'],
    identity_linked: ['keycloak'],
    identity_unlinked: ['keycloak'],
    mfa_factor_enrolled: ['totp'],
    mfa_factor_unenrolled: ['totp'],
  }
  const { renderer, log } = createRenderer(
    Object.fromEntries(
      notificationKinds.map((kind) => [
        `AUTH_MAILER_NOTIFICATIONS_${kind.toUpperCase()}_ENABLED`,
        'true',
      ]),
    ),
  )
  const payload = {
    SiteURL: variables.SiteURL,
    Email: variables.Email,
    OldEmail: 'old@example.com',
    OldPhone: '15550001',
    Phone: '15550002',
    Provider: 'keycloak',
    FactorType: 'totp',
  }
  for (const kind of notificationKinds) {
    await t.test(kind, async () => {
      const { subject, html, text } = await renderer.render(`${kind}_notification`, payload)
      assert.notEqual(subject, '')
      assert.match(html, /<h1[^>]*>[^<]+<\/h1>/)
      for (const part of [html, text]) {
        for (const fact of [variables.SiteURL, variables.Email, ...facts[kind]]) {
          assert.ok(part.includes(fact), fact)
        }
        assert.ok(!part.includes('{{'))
      }
      assert.ok(!html.includes('href'))
    })
  }
  assert.deepEqual(log, [])
})

test('a notification that has been disabled since it was queued is dropped', async () => {
  const { renderer } = createRenderer()
  await assert.rejects(renderer.render('password_changed_notification', {}), UndeliverableError)
})

test('a subject may contain variables, but they cannot inject headers', async () => {
  const { renderer } = createRenderer({
    AUTH_MAILER_SUBJECTS_INVITE: '{{ .Token }}: {{ .Data.name }}',
  })
  const data = { name: 'x\r\nBcc: evil@example.com' }
  const { subject } = await renderer.render('invite', { ...variables, Data: data })
  assert.equal(subject, '123456: xBcc: evil@example.com')
})

test('a template on the site URL is used even if the site is on an internal network', async (t) => {
  const server = createServer((request, response) => {
    if (request.url === '/mail/invite.html')
      response.end('<p>{{ .Data.name }} at {{ .SiteURL }}</p>')
    else response.end('{{ range .Data.list }}{{ range $.Data.list }}{{ end }}{{ end }}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const { renderer, log } = createRenderer(
    { AUTH_MAILER_TEMPLATES_INVITE: '/mail/invite.html', AUTH_MAILER_TEMPLATES_RECOVERY: '/bad' },
    `http://127.0.0.1:${port}`,
  )
  const invite = await renderer.render('invite', variables)
  assert.equal(invite.html, '<p>&lt;b&gt;Ada&lt;/b&gt; at https://site.example</p>')
  assert.equal(invite.text, '<b>Ada</b> at https://site.example')

  const list = Array.from({ length: 1_000 }, () => 1)
  const { html } = await renderer.render('recovery', { ...variables, Data: { list } })
  assert.match(html, /Reset your password/)
  assert.deepEqual(log, [
    'The template of the recovery message failed, the built-in template is used: ' +
      'the template has too many repetitions',
  ])
})

test('a template on an internal address other than the site is replaced by the built-in one', async () => {
  const { renderer, log } = createRenderer({
    AUTH_MAILER_TEMPLATES_INVITE: 'http://169.254.169.254/latest/meta-data',
  })
  const { html } = await renderer.render('invite', variables)
  assert.match(html, /You have been invited/)
  assert.match(log.join(), /169\.254\.169\.254, which is not a public address/)
})

test('a template on an allowed internal host is used', async (t) => {
  const server = createServer((_request, response) => response.end('<p>Ours</p>'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const { renderer, log } = createRenderer({
    AUTH_MAILER_TEMPLATES_INVITE: `http://127.0.0.1:${port}/invite.html`,
    AUTH_MAILER_TEMPLATE_ALLOWED_HOSTS: 'templates.example,127.0.0.1',
  })
  assert.equal((await renderer.render('invite', variables)).html, '<p>Ours</p>')
  assert.deepEqual(log, [])
})
