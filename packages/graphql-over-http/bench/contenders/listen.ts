import type { Server } from 'node:http'

/** Makes a server listen on a free loopback port, and returns the port. */
export function listenOn(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (address === null || typeof address === 'string')
        reject(new Error('The server has no port'))
      else resolve(address.port)
    })
  })
}
