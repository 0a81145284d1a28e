import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runAuth } from '../support/auth-program.ts'

const args = ['redirect', 'explain', 'https://up.example/']

/** A folder in which `portcullis up` was started. */
function openFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-auth-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, '.portcullis'))
  mkdirSync(join(folder, 'below'))
  const variables = {
    AUTH_SITE_URL: 'https://up.example',
    AUTH_JWT_SECRET: 'a-secret-that-is-long-enough-for-a-test',
    AUTH_SECRETS_KEY: 'another-secret-that-is-long-enough',
    AUTH_DB_DRIVER: 'postgres',
    AUTH_DB_DATABASE_URL: 'postgres://db.example/x',
    AUTH_MAILER_AUTOCONFIRM: 'true',
    AUTH_API_EXTERNAL_URL: 'https://auth.example',
  }
  const lines = Object.entries(variables).map(([name, value]) => `${name}="${value}"\n`)
  writeFileSync(join(folder, '.portcullis/auth.env'), lines.join(''))
  return folder
}

test('a command finds the server of portcullis up from the folders below', async (t) => {
  const folder = openFolder(t)
  const { code, stderr } = await runAuth(args, { cwd: join(folder, 'below') })
  assert.equal(stderr, 'Using the configuration of portcullis up (../.portcullis/auth.env).\n')
  assert.equal(code, 0)
})

test('a file .env of another program does not hide the server, and one of a server does', async (t) => {
  const folder = openFolder(t)
  writeFileSync(join(folder, '.env'), 'PORT=3000\n')
  const found = await runAuth(args, { cwd: folder })
  assert.match(found.stderr, /^Using the configuration of portcullis up/)
  writeFileSync(join(folder, '.env'), 'AUTH_SITE_URL=https://other.example\n')
  const other = await runAuth(args, { cwd: folder })
  assert.equal(other.code, 2)
  assert.match(other.stderr, /^ {2}AUTH_DB_DATABASE_URL is required/m)
  assert.match(
    other.stderr,
    /If you started it with --data DIR, pass --config DIR\/auth\.env to auth commands,\nor --data DIR to .*\n$/,
  )
})
