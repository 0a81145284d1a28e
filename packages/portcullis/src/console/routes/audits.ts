import type { FastifyReply } from 'fastify'
import { ConsoleError } from '../errors.ts'
import type { AddRoutes, ConsoleContext } from '../settings.ts'
import {
  type AuditPlan,
  type AuditSettings,
  auditSettingsSchema,
  parseAuditSettings,
} from './audits-plan.ts'
import { type AuditRun, type AuditRunSummary, probeServer, startAuditRun } from './audits-run.ts'

/** Newest first. */
export interface AuditRunList {
  readonly runs: readonly AuditRunSummary[]
  /** The URL of the API that exempts audits from its rate limits, if there is one. */
  readonly uncountedUrl?: string
}

interface RunParams {
  readonly Params: { readonly id: string }
}

const mostRunning = 4
const mostKept = 12
const progressMs = 150

/** The report is a self-contained page with inline styles; it may not run scripts or load anything. */
const reportHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    'sandbox',
  ].join('; '),
  // Browsers refuse to open a sandboxed page with its own browsing context group.
  'cross-origin-opener-policy': 'unsafe-none',
} as const

/** Starts, follows and stops audits of GraphQL servers, and serves their reports. */
export const addRoutes: AddRoutes = (server, { graphql, streams }) => {
  const runs = new Map<string, AuditRun>()
  // Runs that are still probing their server count too.
  let starting = 0
  const countRunning = () =>
    starting + [...runs.values()].filter((run) => run.toSummary().state === 'running').length
  server.addHook('onClose', async () => {
    for (const run of runs.values()) run.stop()
  })

  server.post<{ Body: AuditSettings }>(
    '/api/audits',
    { schema: { body: auditSettingsSchema } },
    async (request, reply) => {
      const plan = withPass(parseAuditSettings(request.body), graphql)
      if (countRunning() >= mostRunning) {
        const message = `${mostRunning} audits are already running. Wait for one to finish, or stop one.`
        throw new ConsoleError(429, 'too_many_audits', message)
      }
      starting += 1
      try {
        await probeServer(plan)
      } finally {
        starting -= 1
      }
      const run = startAuditRun(plan)
      runs.set(run.id, run)
      forgetOldest(runs)
      return reply.code(201).send(run.toView())
    },
  )

  server.get(
    '/api/audits',
    async (): Promise<AuditRunList> => ({
      runs: [...runs.values()].map((run) => run.toSummary()).reverse(),
      ...(graphql?.auditHeaders && { uncountedUrl: graphql.url }),
    }),
  )

  const find = (id: string) => {
    const run = runs.get(id)
    if (run) return run
    throw new ConsoleError(404, 'no_such_audit', 'This audit is no longer available. Run it again.')
  }
  const findReport = (id: string) => {
    const { report } = find(id)
    if (report) return report
    throw new ConsoleError(
      409,
      'no_report',
      'The report is available once all audits have finished.',
    )
  }

  server.get<RunParams>('/api/audits/:id', async ({ params }) => find(params.id).toView())

  server.delete<RunParams>('/api/audits/:id', async ({ params }, reply) => {
    find(params.id).stop()
    return reply.code(204).send()
  })

  server.get<RunParams>('/api/audits/:id/events', async ({ params }, reply) => {
    const run = find(params.id)
    const stream = streams.open(reply)
    const sendProgress = () => stream.send('progress', run.toProgress())
    sendProgress()
    const timer = setInterval(sendProgress, progressMs)
    stream.closed.addEventListener('abort', () => clearInterval(timer))
  })

  server.get<RunParams>('/api/audits/:id/report.html', async ({ params }, reply) => {
    const { html } = findReport(params.id)
    return reply.headers(reportHeaders).type('text/html; charset=utf-8').send(html)
  })

  server.get<RunParams>('/api/audits/:id/report.json', async ({ params }, reply) => {
    const { json } = findReport(params.id)
    return sendFile(reply, 'graphql-audit.json', json)
  })
}

/** Adds the headers that exempt audits from rate limits, for the URL of the console's own API only. */
function withPass(plan: AuditPlan, graphql: ConsoleContext['graphql']): AuditPlan {
  if (graphql?.auditHeaders === undefined) return plan
  if (new URL(graphql.url).href !== plan.url) return plan
  return { ...plan, headers: { ...plan.headers, ...graphql.auditHeaders } }
}

function forgetOldest(runs: Map<string, AuditRun>): void {
  for (const run of runs.values()) {
    if (runs.size <= mostKept) return
    run.stop()
    runs.delete(run.id)
  }
}

function sendFile(reply: FastifyReply, name: string, text: string): FastifyReply {
  return reply
    .header('content-disposition', `attachment; filename="${name}"`)
    .type('application/json; charset=utf-8')
    .send(text)
}
