import { auditServer, discardBodies } from '../../packages/graphql-over-http/src/audits/index.ts'
import { graphqlServers } from './libraries.ts'
import { toMarkdownTable, toRatioCell } from './page.ts'
import { probeFeatures } from './probes.ts'
import type { Run, Sections } from './run.ts'
import { measureRequests, type Server, startServer } from './servers.ts'
import { measureInTurn } from './turns.ts'
import { toWeightRows } from './weights.ts'
import type { Installed } from './workspace.ts'

/** The sections of the page about GraphQL servers. */
export async function compareGraphqlServers(run: Run): Promise<Sections> {
  const installed: Installed[] = []
  for (const library of graphqlServers) {
    run.progress.note(`installing ${library.name}`)
    installed.push(await run.workspace.install('graphql', library))
  }
  const head = ['', ...graphqlServers.map(({ name }) => name)]
  const audits = await auditTasks(installed)
  const features = await probeFeatures('graphql', installed, {}, run.progress.note)
  return {
    'graphql features': toMarkdownTable(head, [audits, ...features]),
    'graphql weight': toMarkdownTable(head, toWeightRows('graphql', installed)),
    'graphql requests': await measureTasks(run, installed),
  }
}

const startTask = (installed: Installed) =>
  startServer(installed, [`graphql/task/${installed.library.id}.mjs`])

/** How many of our audits the task servers pass. */
async function auditTasks(installed: readonly Installed[]): Promise<string[]> {
  const cells: string[] = []
  for (const each of installed) {
    await using server = await startTask(each)
    await proveTask(each.library.name, server)
    const results = await auditServer({ url: `${server.url}/graphql` })
    const passed = results.filter(({ status }) => status === 'ok')
    cells.push(`${passed.length} of ${results.length}`)
    await discardBodies(results)
  }
  return ['[Audits](graphql.md#audits) passed', ...cells]
}

/**
 * Checks that the tasks are equivalent: they respond, mask an unexpected error, and show an
 * intended one.
 */
async function proveTask(name: string, { url }: Server): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ query: '{ hello broken intended }' })
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body })
  const text = await response.text()
  const isMasked = text.includes('There is no such order') && !text.includes('hunter2')
  if (!text.includes('"hello":"world"') || !isMasked) {
    throw new Error(`The task of ${name} responds with ${text}.`)
  }
}

async function measureTasks({ settings }: Run, installed: readonly Installed[]) {
  const body = JSON.stringify({ query: '{ hello }' })
  await using stack = new AsyncDisposableStack()
  const subjects: { readonly name: string; readonly server: Server }[] = []
  for (const each of installed) {
    subjects.push({ name: each.library.name, server: stack.use(await startTask(each)) })
  }
  const [ours] = installed
  if (ours) {
    const server = stack.use(await startServer(ours, ['graphql/plain.mjs']))
    subjects.push({ name: '`node:http` with a fixed response', server })
  }
  const measure = (server: Server) => measureRequests(server, settings.requests, '/graphql', body)
  for (const { server } of subjects) await measure(server)
  const costs = await measureInTurn(
    subjects.map(({ name, server }) => ({ name, measure: () => measure(server) })),
    settings.rounds,
  )
  const rows: string[][] = []
  for (const [index, { name, ratio, microseconds }] of costs.entries()) {
    const memory = await subjects[index]?.server.readMemory()
    const megabytes = [memory?.bytes ?? 0, memory?.rss ?? 0].map(toMegabytes)
    rows.push([name, toRatioCell(ratio, microseconds), ...megabytes])
  }
  return toMarkdownTable(['', 'CPU per request', 'memory after the load: heap', 'resident'], rows)
}

const toMegabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
