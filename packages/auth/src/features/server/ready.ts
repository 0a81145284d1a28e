import { defineEndpoint } from '../../http/endpoint.ts'

export const ready = defineEndpoint({
  method: 'GET',
  path: '/ready',
  summary: 'Whether the server can serve: database, migrations, outbox',
  allowed: 'anyone',
  answersHead: true,
  success: { status: 200, description: 'What was checked; 503 with the same where a check fails' },
  async handle(_call, { readiness }) {
    const { isReady, checks } = await readiness.check()
    return {
      status: isReady ? 200 : 503,
      body: { status: isReady ? 'ready' : 'not ready', checks },
      headers: { 'cache-control': 'no-store' },
    }
  },
})
