import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { launchUp } from '../support/launch-up.ts'
import { findFamily, waitUntilExited } from '../support/processes.ts'
import { createBaseUrls } from '../support/world.ts'

const timeout = 60_000
const folder = mkdtempSync(join(tmpdir(), 'up-stop-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Starts only the rate limit service, the fastest part that runs in a separate process. */
async function start(...args: string[]) {
  const program = launchUp(['--data', folder, '--port-base', '0', '--only', 'ratelimit', ...args])
  await program.ready
  return { program, family: findFamily(program.pid) }
}

test('SIGTERM stops everything in order, even with open connections', { timeout }, async (t) => {
  const { program, family } = await start()
  t.after(() => program.stop())
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const request = get(`${createBaseUrls(folder)('ratelimit')}/healthcheck`, { agent })
  request.on('error', () => {})
  const [response] = await once(request, 'response')
  response.resume()

  program.kill('SIGTERM')
  const { code, stdout, stderr } = await program.ended
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /Stopped\.\n$/)
  await waitUntilExited(family)
})

test('--fresh deletes earlier data; closing the terminal stops everything', {
  timeout,
}, async (t) => {
  const edited = join(folder, 'rules', 'mine.yaml')
  writeFileSync(edited, 'domain: mine\n')
  const { program, family } = await start('--fresh')
  t.after(() => program.stop())
  assert.equal(existsSync(edited), false)
  // One signal comes from the terminal and one from npm.
  program.kill('SIGHUP')
  program.kill('SIGHUP')
  assert.equal((await program.ended).code, 0)
  await waitUntilExited(family)
})

test('SIGKILL leaves no process running', { timeout }, async (t) => {
  const { program, family } = await start()
  t.after(() => program.stop())
  assert.ok(family.length > 1)
  program.kill('SIGKILL')
  await program.ended
  await waitUntilExited(family)
})

test('Ctrl-C during the start leaves no process running', { timeout }, async (t) => {
  const program = launchUp(['--data', folder, '--port-base', '0', '--only', 'ratelimit'])
  t.after(() => program.stop())
  program.ready.catch(() => {})
  let family = findFamily(program.pid)
  // Once the process of a part exists, up has to stop it.
  while (family.length < 2) family = findFamily(program.pid)
  program.kill('SIGINT')
  const { code, stdout, stderr } = await program.ended
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /Stopped\.\n$/)
  await waitUntilExited(family)
})
