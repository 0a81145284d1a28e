/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createSessionKeyBox } from '../../src/features/sessions/imported-tokens.ts'
import type { ImportProgress } from '../../src/import/import-settings.ts'
import { runImport } from '../../src/import/run-import.ts'
import { createFieldDecryption } from '../../src/import/supabase/field-encryption.ts'
import { parseSupabaseUrl } from '../../src/import/supabase/supabase-url.ts'
import { createHashBox } from '../../src/tokens/hash-box.ts'
import { createKeyRing } from '../../src/tokens/key-ring.ts'
import { createSecretBox } from '../../src/tokens/secret-box.ts'
import { openAuthServer } from '../support/auth-server.ts'
import { fillSource } from '../support/supabase-source/fill-source.ts'
import { openSource } from '../support/supabase-source/open-source.ts'

const users = 5_000
const batchRows = 500

/** Compiled code takes some memory. The rows of one table would take twice as much. */
const mostGrowth = 600_000

test('the memory of an import does not grow with the number of users', async (t) => {
  const server = await openAuthServer(t)
  if (!server) return
  const source = await openSource(t, server.databaseUrl, '2.196')
  await source.client.query(fillSource(users))
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  /** The memory in use after each batch, by table. */
  const used = new Map<string, number[]>()
  const onProgress = ({ label }: ImportProgress) => {
    collectGarbage()
    const { heapUsed, external } = process.memoryUsage()
    used.set(label, [...(used.get(label) ?? []), heapUsed + external])
  }
  const ring = createKeyRing(Buffer.alloc(32, 1))
  const report = await runImport({
    from: parseSupabaseUrl(source.url, '--from'),
    to: { url: server.databaseUrl, schema: server.schema },
    tools: {
      decryption: createFieldDecryption(new Map()),
      hashes: createHashBox({ currentId: undefined, byId: new Map() }),
      factorSecrets: createSecretBox(ring),
      sessionKeys: createSessionKeyBox(ring),
    },
    isDryRun: false,
    since: undefined,
    audiences: ['authenticated'],
    batchRows,
    acceptsNewer: false,
    acceptsRemovals: false,
    onProgress,
    onWarning: () => undefined,
  })
  for (const label of ['users', 'identities', 'sessions']) {
    assert.equal(report.tables.find((table) => table.label === label)?.added, users, label)
    // The first batch compiles most of the code.
    const [second = 0, ...later] = (used.get(label) ?? []).slice(2)
    assert.ok(later.length >= users / batchRows - 2, label)
    const growth = Math.max(...later) - second
    assert.ok(growth < mostGrowth, `${label}: ${growth} bytes more than after two batches`)
  }
})
