import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { PortTakenError } from './server-process.ts'

export const host = '127.0.0.1'

/**
 * The range is below the ephemeral ports, which systems assign on request, and above the ports that
 * `fetch` blocks.
 */
const [firstPort, endPort] = [11_000, 32_768]

/**
 * Finds a free port of 127.0.0.1 that no other process is likely to take before the caller does, or
 * while a server of the caller restarts.
 */
export async function findFreePort(): Promise<number> {
  for (let left = 1_000; left > 0; left--) {
    const port = await tryPort(randomInt(firstPort, endPort))
    if (port !== undefined) return port
  }
  throw new Error('127.0.0.1 has no free port left')
}

/** A free port with another free port at a fixed distance, as Redis Cluster's bus requires. */
export async function findFreePortPair(distance: number): Promise<number> {
  for (;;) {
    const port = await findFreePort()
    const isPair = port + distance < endPort && (await tryPort(port + distance)) !== undefined
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
 * Retries if another process takes the port between finding it and listening on it. There are many
 * ports, so a few attempts suffice.
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
