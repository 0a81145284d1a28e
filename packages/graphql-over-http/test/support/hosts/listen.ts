import { once } from 'node:events'
import type { Server } from 'node:net'

/** Starts a server on a free port of the loopback interface. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Stops a server and closes its open connections. */
export async function closeServer(
  server: Server & { closeAllConnections?: () => void },
): Promise<void> {
  server.closeAllConnections?.()
  await new Promise<void>((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()))
  })
}
