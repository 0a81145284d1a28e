import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { startChild } from '@portcullis/bench-kit/child'
import { openRedis } from '@portcullis/test-servers'
import { limiters } from './libraries.ts'
import { findInstalled, measureApps, measureDecisions, measureRedis } from './limiter-costs.ts'
import { toMarkdownTable } from './page.ts'
import { probeFeatures } from './probes.ts'
import type { Run, Sections } from './run.ts'
import { startServer } from './servers.ts'
import { toWeightRows } from './weights.ts'
import type { Installed } from './workspace.ts'

/** The sections of the page about limiters. */
export async function compareLimiters(run: Run): Promise<Sections> {
  const installed: Installed[] = []
  for (const library of limiters) {
    run.progress.note(`installing ${library.name}`)
    installed.push(await run.workspace.install('limiter', library))
  }
  await using redis = await openRedis()
  const env = { REDIS_URL: redis.url, DEAD_REDIS_URL: 'redis://127.0.0.1:1' }
  const { folder } = findInstalled(installed, 'upstash')
  using bridge = startChild(pathToFileURL(join(folder, 'limiter', 'upstash-server.mjs')), { env })
  const { port } = await bridge.receive<{ readonly port: number }>()
  const environment = { ...env, UPSTASH_URL: `http://127.0.0.1:${port}` }

  for (const each of installed) await proveTask(each, environment)
  const head = ['', ...limiters.map(({ name }) => name)]
  return {
    'limiter features': toMarkdownTable(
      head,
      await probeFeatures('limiter', installed, environment, run.progress.note),
    ),
    'limiter weight': toMarkdownTable(head, toWeightRows('limiter', installed)),
    'limiter decisions': await measureDecisions(run, installed),
    'limiter redis': await measureRedis(run, installed, environment, redis.port),
    'limiter requests': await measureApps(run, installed),
  }
}

/**
 * Checks that the tasks are equivalent: three requests are served and the fourth is refused, with
 * the same fields.
 */
async function proveTask(installed: Installed, env: Readonly<Record<string, string>>) {
  await using server = await startServer(
    installed,
    [`limiter/task/${installed.library.id}.mjs`],
    env,
  )
  // The windows of some limiters begin with the minute, so all requests must be in the same minute.
  const left = 60_000 - (Date.now() % 60_000)
  if (left < 8000) await wait(left)
  const answers: string[] = []
  for (const path of ['/', '/', '/healthz', '/', '/', '/healthz']) {
    const { status, headers } = await fetch(server.url + path)
    answers.push(`${status} ${headers.get('ratelimit-remaining')}`)
    if (status !== 429) continue
    const refusal = await fetch(server.url)
    const { error } = (await refusal.json()) as { readonly error?: string }
    const seconds = Number(refusal.headers.get('retry-after'))
    answers.push(`${error}, ${seconds > 0 && seconds <= 60}`)
  }
  const expected = '200 2; 200 1; 200 null; 200 0; 429 0; Too many requests, true; 200 null'
  if (answers.join('; ') === expected) return
  throw new Error(`The task of ${installed.library.name} responds with ${answers.join('; ')}.`)
}
