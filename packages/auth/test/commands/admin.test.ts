/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand } from '../support/auth-command.ts'
import { openProgramEnvironment, runAuth, startAuth } from '../support/auth-program.ts'
import { newEmail, password, send } from '../support/http-client.ts'

test('admin commands manage users while a server is running', async (t) => {
  const opened = await openProgramEnvironment(t)
  if (!opened) return
  const env = { ...opened, AUTH_JWT_ALLOWED_AUDIENCES: 'staff' }
  const admin = (args: readonly string[]) => runCommand(['admin', ...args], { env })
  const inProcess = (args: readonly string[], stdin = '') =>
    runAuth(['admin', ...args], { env, stdin })

  await t.test('before migrate, an error names the missing tables', async () => {
    const { code, stderr } = await admin(['listusers'])
    assert.equal(code, 1)
    assert.match(stderr, /^The tables do not exist .*: run auth migrate first\.$/m)
  })
  const server = await startAuth(t, ['up'], env)
  const login = (email: string, secret = password) =>
    send(server.url, '/token?grant_type=password', { body: { email, password: secret } })

  await t.test('createuser prints the id of a user who can sign in', async () => {
    const email = newEmail()
    const { code, stdout, stderr } = await inProcess(['createuser', email, password, 'editor'])
    assert.deepEqual([code, stderr], [0, ''])
    const { status, body } = await login(email)
    assert.equal(status, 200)
    assert.deepEqual([`${body.user.id}\n`, body.user.role], [stdout, 'editor'])
  })

  await t.test('createuser reads the password from standard input if it is -', async () => {
    const email = newEmail()
    const { code } = await inProcess(['createuser', email, '-'], 'from standard input\n')
    assert.equal(code, 0)
    assert.equal((await login(email, 'from standard input')).status, 200)
  })

  await t.test('createuser --confirm confirms the address, else a warning follows', async () => {
    const [one, other] = [newEmail(), newEmail()]
    const smtp = {
      AUTH_MAILER_AUTOCONFIRM: 'false',
      AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com',
      AUTH_SMTP_HOST: '127.0.0.1',
      AUTH_SMTP_PORT: '1',
    }
    const create = (email: string, ...flags: string[]) =>
      runCommand(['admin', 'createuser', email, password, ...flags], { env: { ...env, ...smtp } })
    assert.match(
      (await create(one)).stderr,
      /not confirmed.+PUT \/admin\/users\/[\da-f-]{36}.+--confirm/,
    )
    assert.equal((await create(other, '--confirm')).stderr, '')
    assert.equal((await login(one)).body.error_code, 'email_not_confirmed')
    assert.equal((await login(other)).status, 200)
  })

  await t.test(
    '--admin assigns the role of administrators and warns if it has no access',
    async () => {
      const email = newEmail()
      const { code, stderr } = await admin(['createuser', email, password, '--admin'])
      assert.equal(code, 0)
      assert.match(stderr, /role admin cannot use the admin endpoints because AUTH_JWT_ADMIN_ROLES/)
      assert.equal((await login(email)).body.user.role, 'admin')
    },
  )

  await t.test('a taken address and a weak password are refused in one line', async () => {
    const email = newEmail()
    await admin(['createuser', email, password])
    assert.deepEqual(await admin(['createuser', email, password]), {
      code: 1,
      stdout: '',
      stderr: 'A user with this email address has already been registered\n',
    })
    assert.deepEqual(await admin(['createuser', newEmail(), '123']), {
      code: 1,
      stdout: '',
      stderr: 'Password should be at least 6 characters.\n',
    })
  })

  await t.test('--aud selects users of another audience', async () => {
    const email = newEmail()
    const refused = await admin(['createuser', email, password, '--aud', 'stuff'])
    assert.deepEqual(
      [refused.code, refused.stderr],
      [
        1,
        'The audience "stuff" is not allowed: use that of AUTH_JWT_AUD, or add it to AUTH_JWT_ALLOWED_AUDIENCES.\n',
      ],
    )
    await admin(['createuser', email, password, '--aud', 'staff'])
    const absent = await admin(['deleteuser', email])
    assert.deepEqual([absent.code, absent.stderr], [1, `There is no user ${email}.\n`])
    const { code, stdout } = await admin(['deleteuser', email, '--aud', 'staff'])
    assert.equal(code, 0)
    assert.match(stdout, new RegExp(`^deleted [\\da-f-]{36} \\(${email}\\)\n$`))
  })

  await t.test('deleteuser also accepts an id, and --soft keeps the id', async () => {
    const email = newEmail()
    const { stdout } = await admin(['createuser', email, password])
    const id = stdout.trim()
    assert.equal((await admin(['deleteuser', id, '--soft'])).code, 0)
    assert.equal((await login(email)).body.error_code, 'invalid_credentials')
    assert.equal((await admin(['deleteuser', id])).code, 0)
    assert.equal((await admin(['deleteuser', id])).code, 1)
  })

  await t.test('banuser bans a user, and the duration none lifts the ban', async () => {
    const email = newEmail()
    await admin(['createuser', email, password])
    const { stdout } = await admin(['banuser', email, '24h'])
    assert.match(stdout, /is banned until \d{4}-/)
    assert.equal((await login(email)).body.error_code, 'user_banned')
    assert.match((await admin(['banuser', email, 'none'])).stdout, /is no longer banned/)
    assert.equal((await login(email)).status, 200)
    const wrong = await admin(['banuser', email, 'soon'])
    assert.equal(wrong.code, 2)
    assert.match(wrong.stderr, /^DURATION must be a duration such as 24h, or none, not "soon"\./)
  })

  await t.test('listusers finds users by a part of the address', async () => {
    const email = newEmail()
    const created = await admin(['createuser', email, password, 'editor'])
    const { stdout, stderr } = await admin(['listusers', '--filter', email.slice(5, 30)])
    assert.equal(stderr, '')
    const cells = stdout.trimEnd().split('\t')
    assert.deepEqual([`${cells[0]}\n`, cells[2], cells[3]], [created.stdout, email, 'editor'])
    const one = await admin(['listusers', '--limit', '1'])
    assert.equal(one.stdout.trimEnd().split('\n').length, 1)
    assert.match(one.stderr, /^There are more/)
  })

  await t.test('invalid arguments exit with code 2 and refer to the help', async () => {
    const wrong = [
      [[], /^The verb is missing/],
      [['createusr'], /^Unknown verb "createusr"\. Verbs: createuser,/],
      [
        ['createuser', 'a@example.com'],
        /^Wrong number of arguments\. Usage: createuser EMAIL PASSWORD/,
      ],
      [['deleteuser', 'a@example.com', '--confirm'], /^deleteuser has no option --confirm/],
      [
        ['banuser', 'a@example.com', ''],
        /^DURATION must be a duration such as 24h, or none, not ""/,
      ],
      [['listusers', '--limit', '0'], /^--limit must be a whole number from 1 to 1000, not "0"/],
      [['revokesessions'], /^Name one user, or use --all, but not both\./],
      [
        ['revokesessions', '--all', '--aud', 'staff'],
        /^--all signs out the users of all audiences/,
      ],
    ] as const
    for (const [args, expected] of wrong) {
      const { code, stderr } = await admin(args)
      assert.equal(code, 2)
      assert.match(stderr, expected)
      assert.match(stderr, /^See: auth admin --help\n$/m)
    }
  })

  await t.test('the audit log records that a command made the change', async () => {
    const email = newEmail()
    const { stdout } = await admin(['createuser', email, password, 'service_role'])
    const { body: tokens } = await login(email)
    const { body } = await send(server.url, '/admin/audit?per_page=50', {
      token: tokens.access_token,
    })
    const entries: { payload: { actor_username: string; traits?: { user_id?: string } } }[] = body
    const entry = entries.find(({ payload }) => payload.traits?.user_id === stdout.trim())
    assert.equal(entry?.payload.actor_username, 'auth admin')
  })
})
