// Runs one handler without a server: handle.ts FILE GRAPHQL_MAJOR

import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { answerParent } from '@portcullis/bench-kit/answer-parent'
import { parseMajor, useOneGraphql } from './one-graphql.ts'

/** How many distinct documents to send repeatedly, and the minimum number of requests. */
export interface HandleJob {
  /** The template of the documents; `%` stands for the number of the document. */
  readonly template: string
  readonly documents: number
  readonly requests: number
  /** Continues after the minimum number of requests until this time is over. */
  readonly seconds: number
}

export interface HandleOutcome {
  readonly requests: number
  readonly cpuSeconds: number
  readonly heapBytes: number
  readonly rssBytes: number
}

const [file = '', graphql] = process.argv.slice(2)
useOneGraphql(parseMajor(graphql))
const { handle } = await import(pathToFileURL(join(import.meta.dirname, file)).href)

const headers = {
  'content-type': 'application/json',
  accept: 'application/graphql-response+json, application/json;q=0.9',
}

async function send(document: string): Promise<void> {
  const body = JSON.stringify({ query: document })
  const request = { method: 'POST', url: '/graphql', headers, raw: null, context: null }
  const [, { status }] = await handle({ ...request, body: async () => body })
  if (status !== 200) throw new Error(`${file} responded with ${status} to ${document}`)
}

async function run({ template, documents, requests, seconds }: HandleJob): Promise<HandleOutcome> {
  const cpuBefore = process.cpuUsage()
  const deadline = performance.now() + seconds * 1000
  let sent = 0
  while (sent < requests || performance.now() < deadline) {
    for (let i = 0; i < 100; i++) await send(template.replace('%', String(sent++ % documents)))
    // Weak references are cleared only between turns of the event loop, as in a real server.
    await turn()
  }
  const { user, system } = process.cpuUsage(cpuBefore)
  globalThis.gc?.()
  const { heapUsed: heapBytes, rss: rssBytes } = process.memoryUsage()
  return { requests: sent, cpuSeconds: (user + system) / 1e6, heapBytes, rssBytes }
}

answerParent(run)
