/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { jwtSecret } from '../support/auth-server.ts'
import { containsSecret } from '../support/contains-secret.ts'
import { fragmentOf, openFlowServer, queryOf } from '../support/flow-server.ts'
import { newEmail, send } from '../support/http-client.ts'
import { openMailServer } from '../support/mail-server.ts'
import { until } from '../support/outbox.ts'
import { openHttpCollector } from '../telemetry/support/collector.ts'

const smtpPassword = `smtp-${randomUUID()}`

test('no secret is in the log, in traces or in metrics (property 33)', async (t) => {
  const collector = await openHttpCollector()
  // The mail server repeats the message in its refusal.
  const mailServer = await openMailServer(t, {
    onData(stream, _session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => callback(new Error(`550 ${Buffer.concat(chunks).toString()}`)))
    },
    onAuth: (_auth, _session, callback) => callback(null, { user: 'user' }),
  })
  const server = await openFlowServer(t, {
    AUTH_SMTP_PORT: `${mailServer.port}`,
    AUTH_SMTP_USER: 'user',
    AUTH_SMTP_PASS: smtpPassword,
    AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
    AUTH_TRACING_ENABLED: 'true',
    AUTH_METRICS_ENABLED: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_METRIC_EXPORT_INTERVAL: '200',
  })
  t.after(() => collector.close())
  if (!server) return
  const { url, query } = server
  const secrets = new Map<string, string>([
    ['the JWT secret', jwtSecret],
    ['the service token', server.serviceToken],
    ['the password of the mail server', smtpPassword],
  ])
  let made = 0
  const keep = (what: string, secret: string): string => {
    made += 1
    assert.ok(typeof secret === 'string' && secret.length >= 6, `${what}: ${secret}`)
    secrets.set(`${what} (${made})`, secret)
    return secret
  }
  const newPassword = () => keep('a password', `pw-${randomUUID()}`)
  const post = (path: string, body: unknown, headers = {}) => send(url, path, { body, headers })
  const keepTokens = (tokens: Record<string, string>) => {
    keep('an access token', tokens['access_token'] ?? '')
    keep('a refresh token', tokens['refresh_token'] ?? '')
    return tokens
  }
  // Refused messages lose their content at once, so a copy is kept.
  await query('alter table outbox add column copy jsonb')
  await query(
    `create function keep_copy() returns trigger language plpgsql as
     $$ begin new.copy = new.payload; return new; end $$`,
  )
  await query(
    'create trigger keep_copy before insert on outbox for each row execute function keep_copy()',
  )
  const findMail = async (email: string) => {
    await server.untilAnswered()
    const [row] = await query(
      "select copy from outbox where copy ->> 'Email' = $1 order by id desc",
      [email],
    )
    keep('a code', row.copy.Token)
    if (row.copy.TokenHash) keep('a link token', row.copy.TokenHash)
    return row.copy
  }

  const email = newEmail()
  const first = newPassword()
  await post('/signup', { email, password: first })
  const confirmation = await findMail(email)
  keepTokens((await post('/verify', { type: 'signup', email, token: confirmation.Token })).body)
  const login = keepTokens(
    (await post('/token?grant_type=password', { email, password: first })).body,
  )
  const token = login['access_token'] ?? ''
  await post('/token?grant_type=password', { email, password: newPassword() })
  keepTokens(
    (await post('/token?grant_type=refresh_token', { refresh_token: login['refresh_token'] })).body,
  )
  await post('/token?grant_type=refresh_token', {
    refresh_token: keep('a wrong refresh token', randomUUID()),
  })

  const verifier = keep('a verifier', randomBytes(56).toString('hex'))
  await post('/recover', { email, code_challenge: verifier, code_challenge_method: 'plain' })
  const recovery = await findMail(email)
  const followed = await send(url, `/verify?type=recovery&token=${recovery.TokenHash}`)
  const code = keep('a PKCE code', queryOf(followed)['code'] ?? '')
  keepTokens(
    (await post('/token?grant_type=pkce', { auth_code: code, code_verifier: verifier })).body,
  )
  server.clock.aheadMs += 901_000
  await post('/otp', { email })
  const link = await findMail(email)
  keepTokens(fragmentOf(await send(url, `/verify?type=magiclink&token=${link.TokenHash}`)))
  await send(url, `/verify?type=magiclink&token=${keep('a wrong link', randomUUID())}`)

  await send(url, '/reauthenticate', { token })
  const nonce = (await findMail(email)).Token
  const put = (body: object) => send(url, '/user', { method: 'PUT', body, token })
  await put({ password: newPassword(), nonce: keep('a wrong nonce', '918273') })
  assert.equal((await put({ password: newPassword(), nonce })).status, 200)
  await put({ email: newEmail() })
  await put({ password: newPassword(), current_password: newPassword() })
  const admin = { token: server.serviceToken }
  const generated = await send(url, '/admin/generate_link', {
    body: { type: 'recovery', email },
    ...admin,
  })
  keep('a generated link', generated.body.hashed_token)
  keep('a generated code', generated.body.email_otp)
  await send(url, '/admin/users', {
    body: { email: newEmail(), password: newPassword() },
    ...admin,
  })
  await send(url, '/invite', { body: { email: newEmail() }, ...admin })
  await send(url, '/user', { token: keep('a forged token', `${token}x`) })

  // Send malformed requests, and make the server fail.
  await post('/signup', `{"password": "${newPassword()}", "email": `)
  await post('/token?grant_type=password', { email: { a: 1 }, password: newPassword() })
  await send(url, `/nowhere?access_token=${keep('a token in a query', randomUUID())}`)
  await send(url, `/%zz?token=${keep('a token behind a bad path', randomUUID())}`)
  await query(`alter table users add constraint not_broken check (email not like 'broken%')`)
  const broken = await post('/signup', { email: `broken-${newEmail()}`, password: newPassword() })
  assert.equal(broken.status, 500)
  await query('alter table sessions rename to sessions_away')
  const lost = keep('a token that fails', login['refresh_token'] ?? '')
  assert.equal((await post('/token?grant_type=refresh_token', { refresh_token: lost })).status, 500)
  assert.equal((await send(url, '/user', { token })).status, 500)
  await query('alter table sessions_away rename to sessions')
  await until(() => server.log.some((line) => /550/.test(line)))
  await send(url, '/logout', { method: 'POST', token })

  await collector.untilSpan('POST /logout')
  await collector.untilPoint('http_status_codes', { 'http.route': '/logout' })
  const telemetry = [...collector.spans, ...collector.points].map((each) => JSON.stringify(each))
  const log = [...server.log, ...telemetry].join('\n')
  assert.ok(secrets.size >= 35, `${secrets.size} secrets`)
  assert.match(log, /failed/)
  for (const [what, secret] of secrets) {
    assert.ok(!containsSecret(log, secret), `${what} is in the log`)
    assert.ok(!containsSecret(log, encodeURIComponent(secret)), `${what} is in the log, encoded`)
  }
  // Check for password hashes and for tokens and queries that the list does not contain.
  assert.doesNotMatch(log, /\$2[aby]\$|eyJ[\w-]{10}|[?&](?:token|access_token|code)=/)
  // The table does not keep them either if a message was refused.
  const failures = await query('select last_error from outbox where last_error is not null')
  const texts = JSON.stringify(failures)
  for (const [what, secret] of secrets)
    assert.ok(!containsSecret(texts, secret), `${what} in last_error`)
})
