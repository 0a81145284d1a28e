/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { openAuthServer } from '../support/auth-server.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { toMailEnvironment } from '../support/mail-environment.ts'
import { openMailServer, type ReceivedMail } from '../support/mail-server.ts'
import { until } from '../support/outbox.ts'
import { createUser, rfc3339, signIn, uuid } from './people.ts'

const kinds = ['INVITE', 'CONFIRMATION', 'RECOVERY', 'MAGIC_LINK', 'EMAIL_CHANGE'] as const
type Kind = (typeof kinds)[number]

/** A web server with a template for every message except one. */
async function openTemplates(t: TestContext): Promise<number> {
  const server = createServer(({ url = '' }, response) => {
    if (url.includes('RECOVERY')) return response.writeHead(404).end()
    const kind = url.slice(1, -'.html'.length)
    response.end(`<i>${kind}</i> {{ .SiteURL }} {{ .Email }} {{ .NewEmail }}
      <a href="{{ .ConfirmationURL }}">go</a>`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

test('Configuration: email', async (t) => {
  const mailServer = await openMailServer(t, {
    allowInsecureAuth: true,
    onAuth: ({ username, password: given }, _, callback) =>
      given === 'mail secret' ? callback(null, { user: username }) : callback(new Error('Wrong')),
  })
  const templates = await openTemplates(t)
  const site = `http://127.0.0.1:${templates}`
  const server = await openAuthServer(t, {
    env: {
      AUTH_SITE_URL: site,
      AUTH_MAILER_AUTOCONFIRM: 'false',
      AUTH_SMTP_ADMIN_EMAIL: 'noreply@auth.example',
      AUTH_SMTP_HOST: '127.0.0.1',
      AUTH_SMTP_PORT: `${mailServer.port}`,
      AUTH_SMTP_USER: 'ada',
      AUTH_SMTP_PASS: 'mail secret',
      AUTH_SMTP_MAX_FREQUENCY: '20',
      AUTH_MAILER_OTP_EXP: '300',
      ...Object.fromEntries(
        kinds.flatMap((kind) => [
          [`AUTH_MAILER_SUBJECTS_${kind}`, `Subject ${kind}`],
          [`AUTH_MAILER_TEMPLATES_${kind}`, `${site}/${kind}.html`],
        ]),
      ),
      AUTH_MAILER_URLPATHS_INVITE: '/at/invite',
      AUTH_MAILER_URLPATHS_CONFIRMATION: '/at/confirmation',
      AUTH_MAILER_URLPATHS_RECOVERY: '/at/recovery',
      AUTH_MAILER_URLPATHS_EMAIL_CHANGE: '/at/change',
    },
  })
  if (!server) return
  const { url, serviceToken } = server
  const post = (path: string, body: unknown) => send(url, path, { body })
  const mailTo = async (email: string): Promise<ReceivedMail> => {
    const find = () => mailServer.received.find(({ to }) => to.includes(email))
    await until(() => find() !== undefined)
    const mail = find()
    if (mail === undefined) throw new Error(`No message to ${email}`)
    return mail
  }
  const known = async () => (await createUser(server)).email
  const changing = await signIn(server)

  /** The recipients of the messages that are requested below. */
  const recipients: Record<Kind, string> = {
    INVITE: newEmail(),
    CONFIRMATION: newEmail(),
    RECOVERY: await known(),
    MAGIC_LINK: await known(),
    EMAIL_CHANGE: newEmail(),
  }
  await send(url, '/invite', { token: serviceToken, body: { email: recipients.INVITE } })
  await post('/signup', { email: recipients.CONFIRMATION, password })
  await post('/recover', { email: recipients.RECOVERY })
  await post('/otp', { email: recipients.MAGIC_LINK })
  const change = { method: 'PUT', token: changing.token, body: { email: recipients.EMAIL_CHANGE } }
  await send(url, '/user', change)

  await t.test('Configuration › SMTP_ADMIN_EMAIL: From address', async () => {
    const { from, headers } = await mailTo(recipients.INVITE)
    assert.equal(from, 'noreply@auth.example')
    assert.match(headers.get('from') ?? '', /<noreply@auth\.example>$/)
  })

  await t.test(
    'Configuration › SMTP_SENDER_NAME: default is the value of SMTP_ADMIN_EMAIL',
    async () => {
      const { headers } = await mailTo(recipients.INVITE)
      assert.match(headers.get('from') ?? '', /^"?noreply@auth\.example"? </)
    },
  )

  await t.test('Configuration › SMTP_HOST, SMTP_PORT: the mail server', async () => {
    for (const email of Object.values(recipients)) assert.ok(await mailTo(email))
  })

  await t.test('Configuration › SMTP_USER, SMTP_PASS: mail-server credentials', async () => {
    assert.equal((await mailTo(recipients.INVITE)).user, 'ada')
  })

  const subjects: Record<Kind, string> = {
    INVITE: 'Configuration › MAILER_SUBJECTS_INVITE: string',
    CONFIRMATION: 'Configuration › MAILER_SUBJECTS_CONFIRMATION: string',
    RECOVERY: 'Configuration › MAILER_SUBJECTS_RECOVERY: string',
    MAGIC_LINK: 'Configuration › MAILER_SUBJECTS_MAGIC_LINK: string',
    EMAIL_CHANGE: 'Configuration › MAILER_SUBJECTS_EMAIL_CHANGE: string',
  }
  for (const kind of kinds) {
    await t.test(subjects[kind], async () => {
      assert.equal((await mailTo(recipients[kind])).headers.get('subject'), `Subject ${kind}`)
    })
  }

  const templated = {
    INVITE: 'Configuration › MAILER_TEMPLATES_INVITE: URL of an email template',
    CONFIRMATION: 'Configuration › MAILER_TEMPLATES_CONFIRMATION: URL of an email template',
    MAGIC_LINK: 'Configuration › MAILER_TEMPLATES_MAGIC_LINK: URL of an email template',
    EMAIL_CHANGE: 'Configuration › MAILER_TEMPLATES_EMAIL_CHANGE: URL of an email template',
  } as const
  for (const kind of kinds) {
    if (kind === 'RECOVERY') continue
    await t.test(templated[kind], async () => {
      const html = (await mailTo(recipients[kind])).parts.get('text/html') ?? ''
      assert.ok(html.includes(`<i>${kind}</i>`), html)
    })
  }

  await t.test(
    'Configuration › templates: variables `SiteURL`, `Email`, `ConfirmationURL`',
    async () => {
      const html = (await mailTo(recipients.INVITE)).parts.get('text/html') ?? ''
      assert.ok(html.includes(`${site} ${recipients.INVITE} `), html)
      assert.match(
        html,
        /<a href="https:\/\/auth\.example\/at\/invite\?token=\w+&amp;type=invite&amp;/,
      )
    },
  )

  await t.test('Configuration › templates: and `NewEmail` for email change', async () => {
    const html = (await mailTo(recipients.EMAIL_CHANGE)).parts.get('text/html') ?? ''
    assert.ok(html.includes(`${changing.email} ${recipients.EMAIL_CHANGE}`), html)
  })

  await t.test(
    'Configuration › MAILER_TEMPLATES_RECOVERY: a built-in template (heading, sentence, link to `ConfirmationURL`) is used when the template is unavailable',
    async () => {
      const html = (await mailTo(recipients.RECOVERY)).parts.get('text/html') ?? ''
      assert.match(html, /<h1[^>]*>[^<]+<\/h1>/)
      assert.match(html, /<p[^>]*>[^<]+\.<\/p>/)
      assert.match(html, /<a href="https:\/\/auth\.example\/at\/recovery\?token=\w+&amp;type=recov/)
    },
  )

  const paths = {
    INVITE: ['/at/invite', 'Configuration › MAILER_URLPATHS_INVITE: URL path in the email'],
    CONFIRMATION: [
      '/at/confirmation',
      'Configuration › MAILER_URLPATHS_CONFIRMATION: URL path in the email',
    ],
    RECOVERY: ['/at/recovery', 'Configuration › MAILER_URLPATHS_RECOVERY: URL path in the email'],
    EMAIL_CHANGE: [
      '/at/change',
      'Configuration › MAILER_URLPATHS_EMAIL_CHANGE: URL path in the email',
    ],
  } as const
  for (const [kind, [path, name]] of Object.entries(paths)) {
    await t.test(name, async () => {
      const html = (await mailTo(recipients[kind as Kind])).parts.get('text/html') ?? ''
      assert.ok(html.includes(`https://auth.example${path}?token=`), html)
    })
  }
})

test('Configuration › SMTP_SENDER_NAME: string', async (t) => {
  const mailServer = await openMailServer(t)
  const server = await openAuthServer(t, {
    env: { ...toMailEnvironment(mailServer.port), AUTH_SMTP_SENDER_NAME: 'The Portal' },
  })
  if (!server) return
  const body = { email: newEmail() }
  await send(server.url, '/invite', { token: server.serviceToken, body })
  const [mail] = await mailServer.waitFor(1)
  assert.match(mail?.headers.get('from') ?? '', /^"?The Portal"? <noreply@auth\.example>$/)
})

test('Configuration: email in the outbox', async (t) => {
  const server = await openFlowServer(t, {
    AUTH_SMTP_MAX_FREQUENCY: '20',
    AUTH_MAILER_OTP_EXP: '300',
  })
  if (!server) return
  const { post, mailsTo } = server

  await t.test(
    'Configuration › SMTP_MAX_FREQUENCY: number seconds, minimum gap between signup-confirmation or password-reset emails',
    async () => {
      const newcomer = newEmail()
      const { email } = await createUser(server)
      const requestBoth = async () => {
        await post('/signup', { email: newcomer, password })
        await post('/recover', { email })
      }
      const sent = async () => [(await mailsTo(newcomer)).length, (await mailsTo(email)).length]
      await requestBoth()
      server.clock.aheadMs += 10_000
      await requestBoth()
      assert.deepEqual(await sent(), [1, 1])
      server.clock.aheadMs += 11_000
      await requestBoth()
      assert.deepEqual(await sent(), [2, 2])
    },
  )

  await t.test('Configuration › MAILER_OTP_EXP: validity of an email link or OTP', async () => {
    const request = async () => {
      const { email } = await createUser(server)
      await post('/recover', { email })
      return { email, mail: await server.mailTo(email) }
    }
    const [one, two] = [await request(), await request()]
    const [late, later] = [await request(), await request()]
    server.clock.aheadMs += 270_000
    const verify = (body: object) => post('/verify', { type: 'recovery', ...body })
    assert.equal((await verify({ token: one.mail.token })).status, 200)
    assert.equal((await verify({ token: two.mail.code, email: two.email })).status, 200)
    server.clock.aheadMs += 31_000
    assert.equal((await verify({ token: late.mail.token })).status, 403)
    assert.equal((await verify({ token: later.mail.code, email: later.email })).status, 403)
  })
})

test('Configuration: email with autoconfirm', async (t) => {
  const server = await openFlowServer(t, { AUTH_MAILER_AUTOCONFIRM: 'true' })
  if (!server) return

  await t.test('Configuration › MAILER_AUTOCONFIRM: bool, default false', async () => {
    const email = newEmail()
    const { body } = await server.post('/signup', { email, password })
    assert.equal((await send(server.url, '/user', { token: body.access_token })).status, 200)
    assert.ok(body.user.email_confirmed_at)
    assert.deepEqual(await server.mailsTo(email), [])
    assert.equal((await send(server.url, '/settings')).body.autoconfirm, true)
  })

  await t.test('Endpoints › POST /signup: user record, with autoconfirm as well', async () => {
    const email = newEmail()
    const { status, body } = await server.post('/signup', { email, password })
    assert.equal(status, 200)
    assert.match(body.id, uuid)
    assert.deepEqual([body.email, body.phone], [email, ''])
    assert.match(body.created_at, rfc3339)
    assert.match(body.updated_at, rfc3339)
    assert.deepEqual([body.token_type, body.expires_in], ['bearer', 3_600])
  })

  await t.test('Errors › a duplicate email signup with autoconfirm', async () => {
    const { email } = await createUser(server)
    const { status, body } = await server.post('/signup', { email, password })
    assert.deepEqual([status, body.code, body.msg], [400, 400, 'User already registered'])
  })
})
