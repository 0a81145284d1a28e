import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { decodeJwt, jwtVerify } from 'jose'
import { token } from '../../src/commands/token.ts'
import { provideSecrets } from '../../src/up/secrets.ts'
import { runPortcullis } from '../support/launch-up.ts'

const secret = 'a-secret-of-more-than-thirty-two-bytes'

async function runToken(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  isTerminal = false,
) {
  let [stdout, stderr] = ['', '']
  const code = await token.run(args, {
    stdout: { write: (written) => (stdout += written) },
    stderr: { write: (written) => (stderr += written) },
    env,
    isTerminal,
  })
  return { code, stdout, stderr }
}

function openFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-token-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function verify(jwt: string, key: string) {
  return (await jwtVerify(jwt.trim(), new TextEncoder().encode(key))).payload
}

test('a service key is signed with the secret of the environment, under either name', async () => {
  for (const name of ['AUTH_JWT_SECRET', 'GOTRUE_JWT_SECRET']) {
    const { code, stdout, stderr } = await runToken(['--role', 'service_role'], { [name]: secret })
    assert.deepEqual([code, stderr], [0, ''])
    const { role, aud, sub, iat = 0, exp = 0 } = await verify(stdout, secret)
    assert.deepEqual(
      [role, aud, sub, exp - iat],
      ['service_role', 'authenticated', undefined, 3600],
    )
  }
})

test('--json prints the claims, and the options choose them', async () => {
  const args = ['--role', 'authenticated', '--subject', 'ada', '--expires', '90s', '--aud', 'shop']
  const { stdout } = await runToken([...args, '--json'], { AUTH_JWT_SECRET: secret })
  const { token: signed, expires_at: expiresAt, ...printed } = JSON.parse(stdout)
  assert.deepEqual(printed, { role: 'authenticated', audience: 'shop', subject: 'ada' })
  const { role, aud, sub, iat = 0, exp = 0 } = await verify(signed, secret)
  assert.deepEqual([role, aud, sub, exp - iat], ['authenticated', 'shop', 'ada', 90])
  assert.ok(Math.abs(Date.parse(expiresAt) / 1000 - exp) < 60)
})

test('programs that verify tokens get a token of their own role, for up to ten years', async () => {
  const args = ['--role', 'token_verifier', '--expires', '87600h']
  const { code, stdout } = await runToken(args, { AUTH_JWT_SECRET: secret })
  const { role, iat = 0, exp = 0 } = await verify(stdout, secret)
  assert.deepEqual([code, role, exp - iat], [0, 'token_verifier', 10 * 365 * 24 * 3600])
})

test('the secret is read from a file without its line break, before the environment', async (t) => {
  const file = join(openFolder(t), 'secret')
  writeFileSync(file, `${secret}\n`)
  const args = ['--role', 'anon', '--secret-file', file]
  const { stdout } = await runToken(args, { AUTH_JWT_SECRET: 'another-secret' })
  assert.equal((await verify(stdout, secret))['role'], 'anon')
})

test('the secret is read from standard input', async () => {
  const main = join(import.meta.dirname, '../../src/main.ts')
  const args = [main, 'token', '--role', 'service_role', '--secret-file', '-']
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(`${secret}\n`)
  assert.equal((await verify(await text(child.stdout), secret))['role'], 'service_role')
})

test('the secret of portcullis up is found above the current folder, or with --data', async (t) => {
  const folder = openFolder(t)
  const data = join(folder, '.portcullis')
  const below = join(folder, 'one', 'two')
  mkdirSync(data, { mode: 0o700 })
  mkdirSync(below, { recursive: true })
  const { jwtSecret } = provideSecrets(data)
  const env = { AUTH_JWT_SECRET: '', GOTRUE_JWT_SECRET: '' }
  const found = await runPortcullis(['token', '--role', 'anon'], { cwd: below, env })
  assert.match(found.stderr, /^Using the secret of portcullis up \(\.\.\/\.\.\/\.portcullis\)\.\n$/)
  assert.equal((await verify(found.stdout, jwtSecret))['role'], 'anon')
  const named = await runToken(['--role', 'anon', '--data', data], { AUTH_JWT_SECRET: secret })
  assert.equal((await verify(named.stdout, jwtSecret))['role'], 'anon')
})

test('on a terminal, the role and the expiry time are printed to standard error', async () => {
  const env = { AUTH_JWT_SECRET: secret }
  const { stdout, stderr } = await runToken(['--role', 'anon'], env, true)
  assert.match(stderr, /^A token with the role anon, valid until \d{4}-/)
  assert.equal(decodeJwt(stdout.trim())['role'], 'anon')
})

test('a short secret causes a warning that does not contain it', async () => {
  const { code, stderr } = await runToken(['--role', 'anon'], { AUTH_JWT_SECRET: 'hunter2' })
  assert.equal(code, 0)
  assert.match(stderr, /^Warning: the secret is shorter than 32 bytes/)
  assert.ok(!stderr.includes('hunter2'))
})

for (const [args, reason] of [
  [
    [],
    /^--role is missing\. Roles: service_role, authenticated, anon, token_verifier\.\nSee: portcullis token/,
  ],
  [['--role', 'servce_role'], /^Unknown role "servce_role"\..* Did you mean service_role\?\n/],
  [['--role', 'authenticated'], /^The role authenticated needs --subject/],
  [['--role', 'anon', '--expires', 'soon'], /^--expires must be a duration .*, not "soon"\.\n/],
  [['--role', 'anon', '--expires', '100ms'], /^--expires must be a duration from 1s/],
  [['--role', 'anon', '--expires', '99999h'], /^--expires must be a duration from 1s to 87600h/],
  [['--role', 'anon', '--secret', secret], /^Unknown option --secret\./],
  [['--role', 'anon', '--data', '.', '--secret-file', '-'], /^Pass either --secret-file or --data/],
] as const) {
  test(`token ${args.join(' ').replace(secret, 'SECRET')} reports the error`, async () => {
    const { code, stdout, stderr } = await runToken(args, { AUTH_JWT_SECRET: secret })
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, reason)
  })
}

test('a missing secret is reported with the ways to pass it', async (t) => {
  const folder = openFolder(t)
  const args = ['--role', 'anon']
  const env = { AUTH_JWT_SECRET: '', GOTRUE_JWT_SECRET: '' }
  const none = await runPortcullis(['token', ...args], { cwd: folder, env })
  assert.equal(none.code, 1)
  assert.match(
    none.stderr,
    /^The JWT secret is missing\. Run this .*\n.* set AUTH_JWT_SECRET or pass --secret-file/,
  )
  const noFile = await runToken([...args, '--secret-file', join(folder, 'none')])
  assert.equal(noFile.code, 1)
  assert.match(noFile.stderr, /cannot be read: .*no such file/i)
  const noFolder = await runToken([...args, '--data', folder])
  assert.equal(noFolder.code, 1)
  assert.match(noFolder.stderr, /contains no valid secrets\.json\. Name the folder that/)
})
