import { mkdtempSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { requestFrom } from '@portcullis/bench-kit/child'
import { findFreePorts } from '@portcullis/bench-kit/free-ports'
import { startServerProcess, toNodeProgram } from '@portcullis/bench-kit/server-process'
import type { Installed } from './workspace.ts'

export interface Memory {
  /** Memory inside and outside of the heap, after a garbage collection. */
  readonly bytes: number
  /** Resident memory. */
  readonly rss: number
}

export interface Server extends AsyncDisposable {
  readonly url: string
  /** CPU time since the start. */
  readMicroseconds(): Promise<number>
  readMemory(): Promise<Memory>
}

/** Starts a program of an installed library that listens on the port in the variable PORT. */
export async function startServer(
  { folder }: Pick<Installed, 'folder'>,
  args: readonly [file: string, ...args: string[]],
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const [port] = await findFreePorts(1)
  const url = `http://127.0.0.1:${port}`
  const usage = join(folder, 'report-usage.mjs')
  const [file, ...rest] = args
  const server = await startServerProcess({
    program: toNodeProgram('--expose-gc', '--import', usage, join(folder, file), ...rest),
    env: { PORT: String(port), ...env },
    logFile: join(mkdtempSync(join(folder, 'log-')), 'server.log'),
    hasChannel: true,
    // Any response will do; no limiter counts this path.
    async readReadiness() {
      const response = await fetch(`${url}/healthz`)
      await response.body?.cancel()
      return true
    },
  })
  return {
    url,
    async readMicroseconds() {
      const answer = await requestFrom<{ microseconds: number }>(server.child, file, 'cpu')
      return answer.microseconds
    },
    readMemory: () => requestFrom<Memory>(server.child, file, 'memory'),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const connections = 16

/** CPU time of the server per request, for requests over a few kept-alive connections. */
export async function measureRequests(
  server: Server,
  count: number,
  path = '/',
  body?: string,
): Promise<number> {
  const before = await server.readMicroseconds()
  await sendRequests(server.url + path, count, body)
  return ((await server.readMicroseconds()) - before) / count
}

async function sendRequests(url: string, count: number, body: string | undefined): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  const method = body === undefined ? 'GET' : 'POST'
  const send = () =>
    new Promise<void>((resolve, reject) => {
      const sent = request(url, { method, agent, headers }, (response) => {
        if (response.statusCode !== 200)
          reject(new Error(`${url} responded with ${response.statusCode}`))
        response.resume().on('end', resolve).on('error', reject)
      })
      sent.on('error', reject).end(body)
    })
  let left = count
  const work = async () => {
    while (left-- > 0) await send()
  }
  try {
    await Promise.all(Array.from({ length: connections }, work))
  } finally {
    agent.destroy()
  }
}
