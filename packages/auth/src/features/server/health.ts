import { json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'

export const health = defineEndpoint({
  method: 'GET',
  path: '/health',
  summary: 'Whether the server is there',
  allowed: 'anyone',
  success: { status: 200, description: 'Version, name and description of the server' },
  handle: async (_call, { version }) =>
    json({ version, name: 'Portcullis Auth', description: 'Authentication and user management' }),
})
