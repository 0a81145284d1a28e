/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { chmod, chown, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createAuthority, open } from '@portcullis/test-servers'
import { openClient } from '../../src/db/connection/open-client.ts'
import { openDatabase } from '../../src/db/database.ts'
import { statement } from '../../src/db/statement.ts'
import { testPostgres } from '../support/shared-postgres.ts'

const findTls = statement(
  'test_find_tls',
  'select ssl, client_dn as name from pg_stat_ssl where pid = pg_backend_pid()',
)

const authority = createAuthority('Test Authority')
const otherCa = createAuthority('Another Authority')

interface Scene {
  readonly url: string
  /** Paths of the certificate and key files. */
  readonly files: Readonly<Record<'ca' | 'otherCa' | 'certificate' | 'key', string>>
}

/** Starts PostgreSQL with TLS, a certificate for `host` and the given pg_hba.conf. */
async function openTlsPostgres(
  t: TestContext,
  host: string,
  hba: string,
): Promise<Scene | undefined> {
  const postgres = await open(t, testPostgres)
  if (!postgres) return undefined
  const data = join(postgres.folder, 'data')
  const owner = await stat(data)
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(data, name)
    await writeFile(path, text)
    await chown(path, owner.uid, owner.gid)
    await chmod(path, 0o600)
    return path
  }
  const { certificate, key } = authority.issue(host)
  const client = authority.issue('postgres')
  await write('server.crt', certificate)
  await write('server.key', key)
  await write('pg_hba.conf', hba)
  const ca = await write('root.crt', authority.certificate)
  await postgres.shutDown()
  await write('postgresql.auto.conf', "ssl = 'on'\nssl_ca_file = 'root.crt'\n")
  await postgres.restart()
  return {
    url: postgres.url,
    files: {
      ca,
      otherCa: await write('other-ca.crt', otherCa.certificate),
      certificate: await write('client.crt', client.certificate),
      key: await write('client.key', client.key),
    },
  }
}

function openWith(t: TestContext, url: string, parameters: Readonly<Record<string, string>>) {
  const query = new URLSearchParams(parameters)
  const db = openDatabase({
    url: `${url}?${query}`,
    schema: 'auth',
    maxPoolSize: 2,
    idleTimeoutMs: 10_000,
    log: { warning: () => {} },
  })
  t.after(() => db[Symbol.asyncDispose]())
  return { isEncrypted: async () => (await db.run(findTls))[0]?.['ssl'], db }
}

test('sslmode works as in libpq', async (t) => {
  const scene = await openTlsPostgres(t, '127.0.0.1', 'host all all 127.0.0.1/32 trust\n')
  if (!scene) return
  const { url, files } = scene
  const { ca, otherCa } = files
  const encrypted = (parameters: Readonly<Record<string, string>>) =>
    openWith(t, url, parameters).isEncrypted()

  await t.test('disable and allow connect without TLS', async () => {
    assert.equal(await encrypted({ sslmode: 'disable' }), false)
    assert.equal(await encrypted({ sslmode: 'allow' }), false)
  })

  await t.test('prefer (the default) and require use TLS and check nothing', async () => {
    assert.equal(await encrypted({}), true)
    assert.equal(await encrypted({ sslmode: 'prefer' }), true)
    assert.equal(await encrypted({ sslmode: 'require' }), true)
  })

  await t.test('verify-ca and verify-full require the given authority', async () => {
    for (const sslmode of ['verify-ca', 'verify-full']) {
      assert.equal(await encrypted({ sslmode, sslrootcert: ca }), true)
      await assert.rejects(encrypted({ sslmode, sslrootcert: otherCa }), /certificate/)
      // The certificate is not signed by an authority that this machine trusts.
      await assert.rejects(encrypted({ sslmode }), /certificate/)
    }
  })

  await t.test('require with an authority checks it like verify-ca', async () => {
    assert.equal(await encrypted({ sslmode: 'require', sslrootcert: ca }), true)
    await assert.rejects(encrypted({ sslmode: 'require', sslrootcert: otherCa }), /certificate/)
  })

  await t.test('a missing file is named', async () => {
    await assert.rejects(encrypted({ sslmode: 'verify-full', sslrootcert: '/nowhere.pem' }), {
      message: /sslrootcert \/nowhere\.pem in the database URL cannot be read: no such file/,
    })
  })

  await t.test('commands connect in the same way', async () => {
    const client = await openClient(`${url}?sslmode=verify-full&sslrootcert=${ca}`, 'test')
    const { rows } = await client.query(findTls.text)
    assert.equal(rows[0].ssl, true)
    await client.end()
  })
})

test('verify-full compares the host name, and verify-ca does not', async (t) => {
  const scene = await openTlsPostgres(t, 'db.example', 'host all all 127.0.0.1/32 trust\n')
  if (!scene) return
  const { url, files } = scene
  const authority = { sslrootcert: files.ca }
  assert.equal(await openWith(t, url, { sslmode: 'verify-ca', ...authority }).isEncrypted(), true)
  await assert.rejects(
    openWith(t, url, { sslmode: 'verify-full', ...authority }).isEncrypted(),
    /127\.0\.0\.1 is not in the cert/,
  )
})

test('PostgreSQL can require a client certificate or TLS', async (t) => {
  const scene = await openTlsPostgres(t, '127.0.0.1', 'hostssl all all 127.0.0.1/32 cert\n')
  if (!scene) return
  const { url, files } = scene
  const own = { sslcert: files.certificate, sslkey: files.key }
  const { db } = openWith(t, url, { sslmode: 'verify-full', sslrootcert: files.ca, ...own })
  assert.deepEqual(await db.run(findTls), [{ ssl: true, name: '/CN=postgres' }])
  await assert.rejects(openWith(t, url, { sslmode: 'require' }).isEncrypted(), /certificate/)
  // The server accepts only TLS connections: allow retries with TLS, and disable does not.
  assert.equal(await openWith(t, url, { sslmode: 'allow', ...own }).isEncrypted(), true)
  await assert.rejects(openWith(t, url, { sslmode: 'disable', ...own }).isEncrypted(), {
    code: '28000',
  })
})

test('prefer connects without TLS if the server does not support or refuses it, and require does not', async (t) => {
  const postgres = await open(t, testPostgres)
  if (!postgres) return
  assert.equal(await openWith(t, postgres.url, { sslmode: 'prefer' }).isEncrypted(), false)
  await assert.rejects(openWith(t, postgres.url, { sslmode: 'require' }).isEncrypted(), {
    message: /does not support SSL/,
  })
  const scene = await openTlsPostgres(t, '127.0.0.1', 'hostnossl all all 127.0.0.1/32 trust\n')
  if (!scene) return
  assert.equal(await openWith(t, scene.url, { sslmode: 'prefer' }).isEncrypted(), false)
})
