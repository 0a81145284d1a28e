/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand } from '../support/auth-command.ts'
import { runAuth } from '../support/auth-program.ts'
import { testEnvironment } from '../support/auth-server.ts'

const env = {
  ...testEnvironment,
  DATABASE_URL: 'postgres://db.example/x',
  AUTH_URI_ALLOW_LIST: 'https://*.preview.example/cb,myapp://login',
}

test('redirect explain prints for each URL whether it is allowed and why', async () => {
  const urls = [
    'https://site.example/after',
    'https://pr-7.preview.example/cb',
    'myapp://login',
    'https://evil.example/',
    'javascript:alert(1)',
  ]
  const { code, stdout, stderr } = await runAuth(['redirect', 'explain', ...urls], { env })
  assert.deepEqual([code, stderr], [1, ''])
  const lines = stdout.trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => line.split(': ')[0]?.includes(' is allowed')),
    [true, true, true, false, false],
  )
  assert.match(lines[1] ?? '', /https:\/\/\*\.preview\.example\/cb/)
  for (const line of lines) assert.match(line, / is (?:not )?allowed: \S+/)
})

test('redirect explain exits with code 0 if all URLs are allowed, and with 2 without a URL', async () => {
  const fine = await runCommand(['redirect', 'explain', 'https://site.example/'], { env })
  assert.equal(fine.code, 0)
  const nothing = await runCommand(['redirect', 'explain'], { env })
  assert.equal(nothing.code, 2)
  assert.equal(nothing.stderr, 'The URL is missing.\nSee: auth redirect --help\n')
})
