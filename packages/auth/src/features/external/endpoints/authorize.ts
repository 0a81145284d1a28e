import { defineEndpoint } from '../../../http/endpoint.ts'
import { externalQuery, startRequest } from './external-request.ts'

export const authorize = defineEndpoint({
  method: 'GET',
  path: '/authorize',
  summary: 'Sends somebody to a provider to sign in there',
  allowed: 'anyone',
  limiter: 'authorize',
  query: { ...externalQuery, invite_token: 'That of the link in an invitation' },
  success: { status: 302, description: 'To the provider' },
  async handle(call, services) {
    const { url: _, ...answer } = await startRequest(call, services, {
      linking: undefined,
      isByScript: false,
    })
    return answer
  },
})
