import { once } from 'node:events'
import { createServer } from 'node:net'
import { PortTakenError } from './server-process.ts'

export const host = '127.0.0.1'

/** A port of 127.0.0.1 that nobody listens on right now. */
export async function findFreePort(): Promise<number> {
  const port = await tryPort(0)
  if (port === undefined) throw new Error('127.0.0.1 has no free port left')
  return port
}

/** A free port that has another free one at a fixed distance: Redis Cluster's bus needs the pair. */
export async function findFreePortPair(distance: number): Promise<number> {
  for (;;) {
    const port = await findFreePort()
    const isPair = port + distance < 65_536 && (await tryPort(port + distance)) !== undefined
    if (isPair) return port
  }
}

async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer()
  try {
    const listening = once(server, 'listening')
    server.listen(port, host)
    await listening
    const address = server.address()
    return typeof address === 'object' ? address?.port : undefined
  } catch {
    return undefined
  } finally {
    server.close()
  }
}

/**
 * Between finding a port and listening on it, another process may take it. Ports are not handed
 * out twice quickly, so a few tries are plenty.
 */
export async function retryWhenPortIsTaken<Result>(open: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof PortTakenError) || attempt === 5) throw error
    }
  }
}
