import assert from 'node:assert/strict'
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { descriptor, requestFor } from '../support/decider.ts'
import { letEventsPass, makeDirectory } from '../support/file-source.ts'
import { openService } from '../support/service-app.ts'
import { openDecisionClient } from '../support/service-client.ts'
import { until } from '../support/service-process.ts'

const toRules = (requests: number, domain = 'd', key = 'k') =>
  `domain: ${domain}\ndescriptors: [{ key: ${key}, rate_limit: { unit: day, requests_per_unit: ${requests} } }]\n`

/** A service with these variables; `limitOf` returns the limit in force, or undefined. */
async function openWith(t: TestContext, env: Readonly<Record<string, string>>) {
  const service = await openService(t, { env })
  const client = await openDecisionClient(t, service)
  const limitOf = async (domain = 'd', key = 'k') => {
    const { statuses } = await client.decide(requestFor(domain, descriptor(`${key}=v`)))
    return statuses[0]?.currentLimit?.requestsPerUnit
  }
  return { service, client, limitOf }
}

test('RUNTIME_ROOT, RUNTIME_SUBDIRECTORY and RUNTIME_APPDIRECTORY name the folder of the rule files', async (t) => {
  const root = await makeDirectory(t)
  await mkdir(join(root, 'sub', 'rules'), { recursive: true })
  await writeFile(join(root, 'sub', 'rules', 'a.yaml'), toRules(7))
  await writeFile(join(root, 'sub', 'b.yaml'), toRules(8, 'e'))
  const { limitOf } = await openWith(t, {
    RUNTIME_ROOT: root,
    RUNTIME_SUBDIRECTORY: 'sub',
    RUNTIME_APPDIRECTORY: 'rules',
  })
  assert.equal(await limitOf('d'), 7)
  assert.equal(await limitOf('e'), undefined)
})

test('RUNTIME_IGNOREDOTFILES decides whether files whose names begin with a dot are read', async (t) => {
  const root = await makeDirectory(t)
  await writeFile(join(root, 'a.yaml'), toRules(7))
  await writeFile(join(root, '.b.yaml'), toRules(8, 'e'))
  const read = await openWith(t, { RUNTIME_ROOT: root, RUNTIME_IGNOREDOTFILES: 'false' })
  assert.deepEqual([await read.limitOf('d'), await read.limitOf('e')], [7, 8])
  const ignored = await openWith(t, { RUNTIME_ROOT: root, RUNTIME_IGNOREDOTFILES: 'true' })
  assert.deepEqual([await ignored.limitOf('d'), await ignored.limitOf('e')], [7, undefined])
})

test('RUNTIME_WATCH_ROOT: true follows the root link, false the contents of the files', async (t) => {
  const parent = await makeDirectory(t)
  for (const [name, requests] of [
    ['v1', 1],
    ['v2', 2],
  ] as const) {
    await mkdir(join(parent, name))
    await writeFile(join(parent, name, 'a.yaml'), toRules(requests))
  }
  const root = join(parent, 'current')
  await symlink('v1', root)
  const ofRoot = await openWith(t, { RUNTIME_ROOT: root, RUNTIME_WATCH_ROOT: 'true' })
  const ofFiles = await openWith(t, { RUNTIME_ROOT: root, RUNTIME_WATCH_ROOT: 'false' })
  await writeFile(join(root, 'a.yaml'), toRules(5))
  await until(
    async () => (await ofFiles.limitOf()) === 5,
    () => 'the changed file was loaded',
  )
  await letEventsPass()
  assert.equal(await ofRoot.limitOf(), 1)
  await symlink('v2', join(parent, 'next'))
  await rename(join(parent, 'next'), root)
  await until(
    async () => (await ofRoot.limitOf()) === 2,
    () => 'the release behind the new link was loaded',
  )
})

test('two files may define one domain only with MERGE_DOMAIN_CONFIG=true', async (t) => {
  const root = await makeDirectory(t)
  await writeFile(join(root, 'a.yaml'), toRules(7))
  await writeFile(join(root, 'b.yaml'), toRules(8, 'd', 'l'))
  const merged = await openWith(t, { RUNTIME_ROOT: root, MERGE_DOMAIN_CONFIG: 'true' })
  assert.deepEqual([await merged.limitOf('d', 'k'), await merged.limitOf('d', 'l')], [7, 8])
  const refused = await openWith(t, { RUNTIME_ROOT: root })
  const { code } = await refused.client.tryDecide(requestFor('d', descriptor('k=v')))
  assert.notEqual(code, 0, 'no rules are in force')
  assert.ok(refused.service.log.some((line) => line.includes("duplicate domain 'd'")))
})
