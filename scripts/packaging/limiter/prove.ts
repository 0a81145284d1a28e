import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Archive } from '../archive.ts'
import { createProject, type Project } from '../project.ts'
import type { Proofs } from '../proofs.ts'
import type { Runtime } from '../runtimes.ts'

const mostPackages = 10

/** Installs the archive alone in an empty project and uses it there. */
export async function proveLimiter(
  archive: Archive,
  { prove }: Proofs,
  runtimes: readonly Runtime[],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-limiter-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeFolder)
  try {
    const project = createProject(join(folder, 'project'))
    const isInstalled = await prove(`installs with at most ${mostPackages} packages`, () =>
      install(project, archive),
    )
    if (!isInstalled) return
    await prove('contains no settings of the service', async () => checkSettings(project, archive))
    writeFileSync(join(project.folder, 'use.mjs'), `import limiter from './use.cjs'\n${esm}`)
    writeFileSync(join(project.folder, 'use.cjs'), cjs)
    for (const { version, node } of runtimes) {
      await prove(
        `ES modules and CommonJS can use it on Node ${version}, and their processes exit`,
        async () => {
          await project.run(node, 'use.mjs', [])
          // The load time needs a separate run, because use.mjs loads all modules before use.cjs runs.
          return await project.run(node, 'use.cjs', [])
        },
      )
    }
  } finally {
    process.off('exit', removeFolder)
    removeFolder()
  }
}

async function install(project: Project, archive: Archive): Promise<string> {
  await project.install([archive.file])
  const installed = project.listInstalled()
  if (installed.length > mostPackages) throw new Error(`It installed ${installed.join(', ')}`)
  return installed.join(', ')
}

/** The limiter shares the list of counter stores with the service, and must not contain its settings. */
function checkSettings(project: Project, { name, contents }: Archive): void {
  const found = contents
    .filter((file) => file.endsWith('.js'))
    .filter((file) => {
      const code = readFileSync(join(project.folder, 'node_modules', name, file), 'utf8')
      return /BACKEND_TYPE|KVSTORE_|MEMORY_STORE_MAX_BYTES/.test(code)
    })
  if (found.length > 0) throw new Error(`Settings of the service are in ${found.join(', ')}`)
}

/** A CommonJS program that loads the limiter, measures the CPU time, and checks what was loaded. */
const cjs = `
const start = process.cpuUsage()
const limiter = require('@portcullis/limiter')
const { user, system } = process.cpuUsage(start)
const loaded = Object.keys(require.cache).filter((file) => /node_modules.(yaml|@opentelemetry)/.test(file))
if (loaded.length > 0) throw new Error('It loads ' + loaded)
console.log('loaded with ' + ((user + system) / 1000).toFixed(0) + ' ms of CPU time')
module.exports = limiter
`

/** An ES module that uses the limiter. The rules in the folder are large enough to be parsed by a thread. */
const esm = `
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import * as modules from '@portcullis/limiter'
import { createRemoteRateLimiter } from '@portcullis/limiter/remote'
import { limitRequests } from '@portcullis/limiter/use/node'

assert.equal(modules.createRateLimiter, limiter.createRateLimiter)
const { createRateLimiter } = limiter
const keyed = createRateLimiter({ limits: { ip: '1/day' } })
assert.equal(keyed.limitSync({ ip: 'a' }).isAllowed, true)
assert.equal((await keyed.limit({ ip: 'a' })).isAllowed, false)
assert.equal(typeof limitRequests({ limiter: keyed, keys: () => ({ ip: 'a' }) }), 'function')

const rule = (key) => '  - key: ' + key + '\\n    rate_limit: { unit: day, requests_per_unit: 1 }\\n'
const text = 'domain: api\\ndescriptors:\\n' + Array.from({ length: 2000 }, (_, i) => rule('k' + i)).join('')
mkdirSync('rules', { recursive: true })
writeFileSync('rules/api.yaml', text)
const watched = createRateLimiter({ rules: { directory: 'rules' } })
await watched.ready
assert.equal((await watched.limit({ descriptors: [{ k1999: 'a' }] })).isMatched, true)
const unusual = createRateLimiter({ rules: text.replace('key: k0', 'key: &anchor k0') })
assert.equal((await unusual.limit({ descriptors: [{ k0: 'a' }] })).isMatched, true)

for (const store of ['redis://127.0.0.1:1', 'redis-cluster://127.0.0.1:1', 'redis-sentinel://m,127.0.0.1:1', 'memcached://127.0.0.1:1']) {
  const absent = createRateLimiter({ limits: { ip: '1/day' }, store, logger: false, timeoutMs: 60_000 })
  await assert.rejects(absent.limit({ ip: 'a' }), { name: 'StoreError' })
}
const remote = createRemoteRateLimiter({ url: 'http://127.0.0.1:1', logger: false })
await assert.rejects(remote.limit({ domain: 'a', descriptors: [{ a: 'b' }] }), { name: 'StoreError' })
`
