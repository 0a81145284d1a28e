import { once } from 'node:events'
import { createServer } from 'node:http'
import { openApi } from '../../api/api.ts'
import { toLocalHost } from '../addresses.ts'
import type { StartPart } from '../part.ts'
import { createCountsRequest } from '../secrets.ts'

/** Starts the example GraphQL API. */
export const startGraphql: StartPart = async ({ host, ports, secrets, has }) => {
  const answer = openApi({
    ...(has.has('auth') && { signingKeys: { secret: secrets.jwtSecret } }),
    countsRequest: createCountsRequest(secrets),
    ...(has.has('ratelimit') && { ratelimitUrl: `http://${toLocalHost(host)}:${ports.ratelimit}` }),
  })
  const server = createServer(answer).listen(ports.graphql, host)
  await once(server, 'listening')
  return {
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
