import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { installDebianPackages } from '../src/programs/debian.ts'

/** A fake apt-get that records its calls and the policy for services. */
async function createFakeSystem(t: TestContext, { failures = 0 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-debian-'))
  t.after(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'bin'))
  const policyFile = join(folder, 'policy-rc.d')
  const calls = join(folder, 'calls')
  const aptGet = [
    '#!/bin/sh',
    `policy=none; [ -e '${policyFile}' ] && { '${policyFile}' x start; policy=$?; }`,
    `echo "$1 $policy" >> '${calls}'`,
    `[ "$1" = install ] && [ "$(grep -c ^install '${calls}')" -le ${failures} ] && { echo 'E: 404'; exit 100; }`,
    'exit 0',
  ]
  await writeFile(join(folder, 'bin', 'apt-get'), aptGet.join('\n'), { mode: 0o755 })
  return {
    system: {
      policyFile,
      lockFile: join(folder, 'lock'),
      path: `${join(folder, 'bin')}:${process.env.PATH}`,
    },
    policyFile,
    calls: async () => (await readFile(calls, 'utf8').catch(() => '')).trim().split('\n'),
  }
}

const isDebianLike = existsSync('/usr/bin/flock') || 'needs flock, which every Debian has'

test('services are denied during the install, and the policy is removed afterwards', async (t) => {
  if (isDebianLike !== true) return t.skip(isDebianLike)
  const { system, policyFile, calls } = await createFakeSystem(t)
  await installDebianPackages(['some-server'], system)
  assert.deepEqual(await calls(), ['install 101'])
  assert.ok(!existsSync(policyFile))
})

test('the package lists are updated when the package is not found', async (t) => {
  if (isDebianLike !== true) return t.skip(isDebianLike)
  const { system, policyFile, calls } = await createFakeSystem(t, { failures: 1 })
  await installDebianPackages(['some-server'], system)
  assert.deepEqual(await calls(), ['install 101', 'update 101', 'install 101'])
  assert.ok(!existsSync(policyFile))
})

test('a failure contains the output of apt-get, and the policy is removed', async (t) => {
  if (isDebianLike !== true) return t.skip(isDebianLike)
  const { system, policyFile } = await createFakeSystem(t, { failures: 9 })
  await assert.rejects(
    installDebianPackages(['some-server'], system),
    /some-server failed:\nE: 404/,
  )
  assert.ok(!existsSync(policyFile))
})

test('an existing policy that denies services is unchanged', async (t) => {
  if (isDebianLike !== true) return t.skip(isDebianLike)
  const { system, policyFile, calls } = await createFakeSystem(t)
  await writeFile(policyFile, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  await installDebianPackages(['some-server'], system)
  assert.deepEqual(await calls(), ['install 101'])
  assert.equal(await readFile(policyFile, 'utf8'), '#!/bin/sh\nexit 101\n')
})

test('nothing is installed if an existing policy would start a service', async (t) => {
  if (isDebianLike !== true) return t.skip(isDebianLike)
  const { system, policyFile, calls } = await createFakeSystem(t)
  await writeFile(policyFile, '#!/bin/sh\nexit 104\n', { mode: 0o755 })
  await assert.rejects(
    installDebianPackages(['some-server'], system),
    /install some-server yourself/,
  )
  assert.deepEqual(await calls(), [''])
})

test('a policy that a killed test run left behind is removed', async (t) => {
  if (isDebianLike !== true) return t.skip(isDebianLike)
  const { system, policyFile } = await createFakeSystem(t)
  const mark = '# Placed by the Portcullis tests while they install a package.'
  await writeFile(policyFile, `#!/bin/sh\n${mark}\nexit 101\n`, { mode: 0o755 })
  await installDebianPackages(['some-server'], system)
  assert.ok(!existsSync(policyFile))
})
