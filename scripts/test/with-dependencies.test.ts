import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, realpath, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

const scripts = join(import.meta.dirname, '..')

/** As in scripts/install.mjs, for the systems on which the tests run. */
const nodePackage = `node_modules/${process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'}-${process.platform}-${process.arch}`

/**
 * What the fake npm does for `npm ci`: records the call, then installs according to the lock file.
 */
const fakeNpm = `
const { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } = require('node:fs')
appendFileSync('npm-calls', process.argv.slice(2).join(' ') + '\\n')
if (process.env.FAKE_NPM_FAILS) process.exit(7)
rmSync('node_modules', { recursive: true, force: true })
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const isFirstCall = readFileSync('npm-calls', 'utf8').split('\\n').length === 2
const hasNoNode = process.env.FAKE_NPM_HAS_NO_NODE || (process.env.FAKE_NPM_LOSES_NODE && isFirstCall)
if (hasNoNode) delete packages['${nodePackage}']
setTimeout(() => {
  for (const path of Object.keys(packages)) {
    if (path === '') continue
    mkdirSync(path + '/bin', { recursive: true })
    writeFileSync(path + '/package.json', '{}')
  }
  if (!hasNoNode) symlinkSync(process.execPath, '${nodePackage}/bin/node')
  writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }))
}, Number(process.env.FAKE_NPM_MS ?? 0))
`

const lockOf = (version: string) =>
  JSON.stringify({
    packages: {
      '': {},
      [nodePackage]: { version: '24.0.0', optional: true },
      'node_modules/dependency': { version },
      'node_modules/elsewhere': { version, optional: true },
    },
  })

async function openProject(t: TestContext) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'portcullis-project-')))
  t.after(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'scripts'))
  for (const name of ['with-dependencies.mjs', 'install.mjs', 'file-lock.mjs']) {
    await cp(join(scripts, name), join(folder, 'scripts', name))
  }
  await writeFile(join(folder, 'npm-cli.js'), fakeNpm)
  await writeFile(join(folder, 'package-lock.json'), lockOf('1.0.0'))
  await writeFile(
    join(folder, 'main.mjs'),
    `const [name, value] = process.argv.slice(2)
     if (name === 'exit') process.exitCode = Number(value)
     else if (name === 'wait') {
       process.on('SIGTERM', () => process.exit(42))
       setInterval(() => {}, 1000)
       console.log('waiting')
     } else console.log(JSON.stringify({ args: process.argv.slice(2), path: process.env.PATH }))`,
  )

  const start = (args: string[], env: Record<string, string> = {}): ChildProcess =>
    spawn(process.execPath, ['scripts/with-dependencies.mjs', 'main.mjs', ...args], {
      cwd: folder,
      env: { ...process.env, npm_execpath: join(folder, 'npm-cli.js'), ...env },
    })
  const run = async (args: string[] = [], env?: Record<string, string>) => {
    const child = start(args, env)
    const [stdout, stderr, [code]] = await Promise.all([
      textOf(child.stdout),
      textOf(child.stderr),
      once(child, 'close'),
    ])
    return { stdout, stderr, code }
  }
  const npmCalls = async () => {
    const calls = await readFile(join(folder, 'npm-calls'), 'utf8').catch(() => '')
    return calls.split('\n').length - 1
  }
  return { folder, start, run, npmCalls }
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = ''
  for await (const chunk of stream ?? []) text += chunk
  return text
}

test('the first run installs, says so on stderr, and runs the file with its arguments', async (t) => {
  const { folder, run, npmCalls } = await openProject(t)
  const { stdout, stderr, code } = await run(['a', '--b'])
  assert.equal(code, 0)
  assert.equal(await npmCalls(), 1)
  assert.match(stderr, /^Installing dependencies \(npm ci\), because they are not installed yet…\n/)
  assert.match(stderr, /Installed in \d+\.\d s\.\n$/)
  const { args, path } = JSON.parse(stdout)
  assert.deepEqual(args, ['a', '--b'])
  assert.ok(path.startsWith(`${join(folder, 'node_modules', '.bin')}:`), path)
})

test('a run with nothing to install prints nothing and does not start npm', async (t) => {
  const { run, npmCalls } = await openProject(t)
  await run()
  const { code, stderr } = await run()
  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(await npmCalls(), 1)
})

test('any difference between the installed packages and the lock file causes an install', async (t) => {
  const { folder, run, npmCalls } = await openProject(t)
  await run()
  const installed = join(folder, 'node_modules', '.package-lock.json')
  const cases: Record<string, () => Promise<void>> = {
    'node_modules/dependency changed': () =>
      writeFile(join(folder, 'package-lock.json'), lockOf('2.0.0')),
    'node_modules/dependency is missing': () =>
      rm(join(folder, 'node_modules/dependency'), { recursive: true }),
    'the pinned Node is missing': () => rm(join(folder, nodePackage, 'bin/node')),
    'they are not installed yet': () => rm(installed),
    'they were installed on another system': async () => {
      const { packages } = JSON.parse(await readFile(installed, 'utf8'))
      packages['node_modules/elsewhere'].os = ['other']
      await writeFile(installed, JSON.stringify({ packages }))
    },
  }
  let calls = 1
  for (const [reason, damage] of Object.entries(cases)) {
    await damage()
    const { code, stderr } = await run()
    assert.equal(code, 0, reason)
    assert.ok(stderr.includes(`because ${reason}…`), `${reason}: ${stderr}`)
    assert.equal(await npmCalls(), ++calls, reason)
  }
})

test('a missing package for other systems and an extra package do not cause an install', async (t) => {
  const { folder, run, npmCalls } = await openProject(t)
  await run()
  const installed = join(folder, 'node_modules', '.package-lock.json')
  const { packages } = JSON.parse(await readFile(installed, 'utf8'))
  delete packages['node_modules/elsewhere']
  packages['node_modules/node/node_modules/helper'] = { version: '1.0.0' }
  await writeFile(installed, JSON.stringify({ packages }))
  assert.equal((await run()).stderr, '')
  assert.equal(await npmCalls(), 1)
})

test('if the registry has no Node for the system, another Node of the same version is used', async (t) => {
  const { folder, run, npmCalls } = await openProject(t)
  const lock = JSON.parse(lockOf('1.0.0'))
  delete lock.packages[nodePackage]
  lock.packages['node_modules/node-win-other'] = { version: '24.0.0', optional: true }
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock))
  const env = { FAKE_NPM_HAS_NO_NODE: '1' }
  assert.equal((await run(['exit', '3'], env)).code, 3)
  lock.packages['node_modules/node-win-other'].version = '999.0.0'
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock))
  const { code, stderr } = await run([], env)
  assert.equal(code, 1)
  assert.match(stderr, /the pinned Node is missing.*install Node 24 or later/s)
  assert.equal(await npmCalls(), 3)
})

test('if npm leaves out the pinned Node, because its download failed, npm runs once more', async (t) => {
  const { folder, run, npmCalls } = await openProject(t)
  const lock = JSON.parse(lockOf('1.0.0'))
  lock.packages[nodePackage].version = '999.0.0'
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock))
  const { code, stderr } = await run(['exit', '0'], { FAKE_NPM_LOSES_NODE: '1' })
  assert.equal(code, 0)
  assert.match(stderr, /again, because the pinned Node is missing…/)
  assert.equal(await npmCalls(), 2)
})

test('every package of the lock files has a hash', async () => {
  // The registry had no build of these versions when the lock file was written; npm verifies them
  // by the registry's hash.
  const withoutHash = /^node_modules\/node-(?:bin-)?darwin-/
  for (const folder of ['.', 'packages/graphql-over-http/test/runtimes']) {
    const file = join(scripts, '..', folder, 'package-lock.json')
    const { packages }: LockFile = JSON.parse(await readFile(file, 'utf8'))
    // It would download Node in an install script.
    assert.equal(packages['node_modules/node'], undefined)
    for (const [path, { link, inBundle, integrity = '' }] of Object.entries(packages)) {
      if (!path.includes('node_modules/') || link || inBundle || withoutHash.test(path)) continue
      assert.match(integrity, /^sha512-/, `${folder}: ${path}`)
    }
  }
})

interface LockFile {
  readonly packages: Readonly<
    Record<
      string,
      { readonly integrity?: string; readonly link?: boolean; readonly inBundle?: boolean }
    >
  >
}

test('two concurrent starts install once, and both run', async (t) => {
  const { run, npmCalls } = await openProject(t)
  const results = await Promise.all([1, 2].map((n) => run([`${n}`], { FAKE_NPM_MS: '300' })))
  assert.deepEqual(
    results.map((result) => [result.code, JSON.parse(result.stdout).args]),
    [
      [0, ['1']],
      [0, ['2']],
    ],
  )
  assert.equal(await npmCalls(), 1)
  assert.equal(results.filter((result) => result.stderr.includes('waiting for it')).length, 1)
})

test('the lock of a killed install is taken over', async (t) => {
  const { folder, run, npmCalls } = await openProject(t)
  const lock = join(folder, '.cache', 'install.lock')
  await mkdir(join(folder, '.cache'))
  await writeFile(lock, 'a process that is gone')
  const longAgo = new Date(Date.now() - 60_000)
  await utimes(lock, longAgo, longAgo)
  assert.equal((await run()).code, 0)
  assert.equal(await npmCalls(), 1)
  await assert.rejects(readFile(lock), { code: 'ENOENT' })
})

test('a failed install ends with one explanation and exit code 1', async (t) => {
  const { run } = await openProject(t)
  const { code, stdout, stderr } = await run([], { FAKE_NPM_FAILS: '1' })
  assert.equal(code, 1)
  assert.equal(stdout, '')
  assert.match(stderr, /npm ci failed in .+ \(exit code 7\).+Check the network/)
  assert.doesNotMatch(stderr, /at .+\.mjs/)
})

test('the exit code of the file is passed on', async (t) => {
  const { run } = await openProject(t)
  assert.equal((await run(['exit', '3'])).code, 3)
})

test('a signal is passed on to the file, which decides how it ends', async (t) => {
  const { start, run } = await openProject(t)
  await run()
  const child = start(['wait'])
  const ended = once(child, 'close')
  assert.ok(child.stdout)
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  const [code] = await ended
  assert.equal(code, 42)
})

test('an install that is interrupted releases its lock, and the next run installs', async (t) => {
  const { folder, start, run, npmCalls } = await openProject(t)
  const child = start([], { FAKE_NPM_MS: '60000' })
  const ended = once(child, 'close')
  while ((await npmCalls()) === 0) await new Promise((done) => setTimeout(done, 20))
  child.kill('SIGTERM')
  const [code] = await ended
  assert.equal(code, 143)
  await assert.rejects(readFile(join(folder, '.cache', 'install.lock')), { code: 'ENOENT' })
  assert.equal((await run()).code, 0)
  assert.equal(await npmCalls(), 2)
})

test('without a file to run it prints its usage', async (t) => {
  const { folder } = await openProject(t)
  const child = spawn(process.execPath, ['scripts/with-dependencies.mjs'], { cwd: folder })
  const [stderr, [code]] = await Promise.all([textOf(child.stderr), once(child, 'close')])
  assert.equal(code, 2)
  assert.match(stderr, /^Usage: /)
})
