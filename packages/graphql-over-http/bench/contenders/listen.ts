import type { Server } from 'node:http'

/** Lets a server listen on a free port of the loopback, and tells the port. */
export function listenOn(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (address === null || typeof address === 'string') reject(new Error('No port to tell'))
      else resolve(address.port)
    })
  })
}
