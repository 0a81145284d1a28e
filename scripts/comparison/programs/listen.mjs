import { once } from 'node:events'
import { createServer } from 'node:http'

/** Serves with a listener for node:http while `use` runs with the address. */
export async function whileListening(listener, use) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    return await use(`http://127.0.0.1:${server.address().port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
