import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { findFreePort } from '@portcullis/test-servers'
import { until } from './support/service-process.ts'

const root = join(import.meta.dirname, '..', '..', '..')

test('the example server with its own limits refuses the fourth request', async (t) => {
  const port = await findFreePort()
  const child = spawn(process.execPath, ['examples/ratelimit/in-process.ts'], {
    cwd: root,
    env: { ...process.env, PORT: `${port}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [text] = await once(child.stdout.setEncoding('utf8'), 'data')
  assert.match(text, /Listening on/)
  const statuses: number[] = []
  await until(
    async () => {
      statuses.push((await fetch(`http://127.0.0.1:${port}/`)).status)
      return statuses.at(-1) === 429
    },
    () => 'a request was refused',
  )
  // A minute may end in between.
  assert.ok(statuses.length >= 4 && statuses.length <= 7, `${statuses}`)
})
