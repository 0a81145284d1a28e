/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runCommand } from '../support/auth-command.ts'
import { makeFolder } from '../support/embedded-place.ts'
import { encryptionKeys, keyIdOf, toEncryptionEnvironment } from '../support/encryption-keys.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'
import {
  openSource,
  sourceEnvironment,
  toCommandEnvironment,
} from '../support/supabase-source/open-source.ts'
import { sourcePassword } from '../support/supabase-source/people.ts'
import { encryptField } from '../support/supabase-source/tokens.ts'

const encryption = toEncryptionEnvironment(true, 'a', ['a', 'b'])

/** Opens a server that encrypts password hashes with the key `a`. */
async function open(t: TestContext) {
  const server = await openFlowServer(t, { ...sourceEnvironment, ...encryption })
  if (!server) return undefined
  const env = { ...toCommandEnvironment(server), ...encryption }
  const run = async (...args: readonly string[]) => {
    const ended = await runCommand([...args, '--json'], { env })
    assert.equal(ended.code, 0, ended.stderr + ended.stdout)
    return JSON.parse(ended.stdout)
  }
  return {
    server,
    env,
    run,
    signIn: (email: string) =>
      send(server.url, '/token?grant_type=password', { body: { email, password: sourcePassword } }),
    async storedOf(id: string): Promise<string> {
      const sql = 'select encrypted_password as stored from users where id = $1'
      return (await server.query(sql, [id]))[0].stored
    },
  }
}

test('imported password hashes are encrypted, and exported ones are not', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, env, run, signIn, storedOf } = opened
  const source = await openSource(t, server.databaseUrl, '2.196')
  const { ada, cleo, fred } = await source.addPeople()
  const there = async (id: string): Promise<string> => {
    const { rows } = await source.client.query('select * from users where id = $1', [id])
    return rows[0].encrypted_password
  }
  const adaHash = await there(ada.id)
  await source.client.query('update users set encrypted_password = $2 where id = $1', [
    ada.id,
    encryptField(adaHash, ada.id, 'b', encryptionKeys.b),
  ])
  const { verification } = await run('import', '--from', source.url)
  assert.deepEqual(verification.differences, [])
  const rows = await server.query(
    'select encrypted_password as stored from users where encrypted_password is not null',
  )
  assert.ok(rows.length > 5)
  for (const { stored } of rows) assert.equal(keyIdOf(stored), 'a', stored)

  const before = await storedOf(cleo.id)
  const again = await run('import', '--from', source.url)
  assert.deepEqual(again.verification.differences, [])
  assert.equal(await storedOf(cleo.id), before, 'an unchanged row is not written again')
  for (const { email } of [ada, cleo, fred]) {
    const answer = await signIn(email)
    assert.equal(answer.status, 200, `${email}: ${JSON.stringify(answer.body)}`)
  }

  await t.test('Supabase Auth gets the unencrypted hash', async () => {
    const [{ id }] = await server.query(
      `update users set raw_user_meta_data = '{}', updated_at = now() + interval '1 hour'
       where id = $1 returning id`,
      [cleo.id],
    )
    await source.client.query(`update users set encrypted_password = '' where id = $1`, [id])
    await run('export', '--to', source.url)
    assert.match(await there(id), /^\$2b\$04\$/)
    const { rows: encrypted } = await source.client.query(
      `select id from users where encrypted_password like '{%' and id <> $1`,
      [ada.id],
    )
    assert.deepEqual(encrypted, [])
  })

  await t.test('a missing key stops the export', async () => {
    const onlyB = { ...env, ...toEncryptionEnvironment(false, 'b', ['b']) }
    const file = join(await makeFolder(t), 'users.jsonl')
    const ended = await runCommand(['export', '--jsonl', file], { env: onlyB })
    assert.equal(ended.code, 1)
    assert.match(
      ended.stderr,
      /^The export failed: The password hash of user .+ which has the name "a"\. Add that key\.\n$/,
    )
    await assert.rejects(readFile(file), { code: 'ENOENT' })
  })

  await t.test('hashes that differ from the source are found', async () => {
    await server.query(
      `update users u set encrypted_password = '$2b$04$other', updated_at = r.updated_at
       from imported_rows r
       where u.id = r.id and r.table_name = 'users' and u.encrypted_password is not null`,
    )
    const ended = await runCommand(['import', '--from', source.url, '--json'], { env })
    assert.equal(ended.code, 1)
    // The sample is random, but does not miss all of the rows.
    assert.match(ended.stdout, /users: the row [\da-f-]{36} differs from the source/)
  })
})

test('files contain unencrypted hashes, which the import encrypts', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, run, signIn, storedOf } = opened
  const folder = await makeFolder(t)
  const email = 'ada@file.example'
  const [written, exported] = ['written.jsonl', 'exported.jsonl'].map((name) => join(folder, name))
  const big = '12345678901234567890'
  const created = await send(server.url, '/admin/users', {
    token: server.serviceToken,
    body: { email, password: sourcePassword, email_confirm: true },
  })
  const { id } = created.body
  await server.query(`update users set raw_user_meta_data = '{"n": ${big}}' where id = $1`, [id])
  assert.equal(keyIdOf(await storedOf(id)), 'a')
  assert.ok(written !== undefined && exported !== undefined)
  assert.equal((await run('export', '--jsonl', exported)).users, 1)
  const line = await readFile(exported, 'utf8')
  const record = JSON.parse(line)
  assert.match(record.password_hash, /^\$2b\$04\$/)
  assert.deepEqual([record.id, record.email], [id, email])
  assert.ok(line.includes(big), line)

  await server.query('delete from users')
  await writeFile(written, line)
  for (const outcome of ['added', 'unchanged']) {
    const { tables } = await run('import', '--jsonl', written)
    assert.equal(tables[0][outcome], 1, outcome)
    assert.equal(keyIdOf(await storedOf(id)), 'a')
  }
  assert.equal((await signIn(email)).status, 200)
})
