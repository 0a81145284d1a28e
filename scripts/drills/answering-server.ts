import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface AnsweringServer extends AsyncDisposable {
  readonly url: string
  /** The paths and bodies of the received requests, in order. */
  readonly requests: readonly { readonly path: string; readonly body: string }[]
}

/** An external server that answers every request with the same JSON. */
export async function openAnsweringServer(answer: object): Promise<AnsweringServer> {
  const requests: { path: string; body: string }[] = []
  const server = createServer(async (request, response) => {
    requests.push({ path: request.url ?? '', body: await text(request) })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
