import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The modules that a script loads, according to Node's module hooks. */
async function listLoaded(script: string): Promise<string[]> {
  const code = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({
      load(url, context, next) {
        loaded.push(url)
        return next(url, context)
      },
    })
    const { createRateLimiter } = await import(${JSON.stringify(import.meta.resolve('@portcullis/ratelimit'))})
    ${script}
    console.log(JSON.stringify(loaded))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code])
  return JSON.parse(stdout)
}

const heavy = /node_modules\/(?:yaml|@opentelemetry|@bufbuild|@grpc)\//
const server = /\/src\/(?:transports|tracing|commands|config|app|workers)\b|\/grpc-unary\//
const onDemand =
  /\/src\/(?:counters\/(?:redis|memcached|network)|rules\/sources|protocol\/generated)\//

test('a limiter with limits loads neither YAML nor the service, nor stores that it does not use', async () => {
  const loaded = await listLoaded(`
    const limiter = createRateLimiter({ limits: { ip: '5/minute' } })
    limiter.limitSync({ ip: '::1' })`)
  assert.ok(loaded.length > 20, 'the hooks see the modules')
  for (const pattern of [heavy, server, onDemand]) {
    assert.deepEqual(
      loaded.filter((url) => pattern.test(url)),
      [],
    )
  }
  for (const builtIn of ['node:process', 'node:net', 'node:fs', 'node:worker_threads']) {
    assert.ok(!loaded.includes(builtIn), builtIn)
  }
})

test('plain YAML is read without the library, and unusual YAML with it', async () => {
  const rules =
    'domain: api\\ndescriptors:\\n  - key: a\\n    rate_limit: { unit: day, requests_per_unit: 1 }\\n'
  const plain = await listLoaded(`createRateLimiter({ rules: '${rules}' })`)
  assert.deepEqual(
    plain.filter((url) => heavy.test(url)),
    [],
  )
  const unusual = rules.replace('- key: a', '- key: &anchor a')
  const loaded = await listLoaded(`createRateLimiter({ rules: '${unusual}' })`)
  assert.ok(loaded.some((url) => /node_modules\/yaml\//.test(url)))
})
