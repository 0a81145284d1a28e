import type { TestContext } from 'node:test'
import { openAuthServer } from './auth-server.ts'
import { newEmail, password, send } from './http-client.ts'

/** A server on which users may create keys. */
export async function openKeyServer(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const clock = { aheadMs: 0, now: () => Date.now() + clock.aheadMs, catchUp: () => {} }
  const keys = { AUTH_API_KEYS_ENABLED: 'true', AUTH_API_KEYS_SCOPES: 'read,write' }
  const server = await openAuthServer(t, { env: { ...keys, ...env }, clock })
  if (!server) return undefined
  const { url, serviceToken } = server
  return {
    ...server,
    clock,
    async signUp() {
      const { body } = await send(url, '/signup', { body: { email: newEmail(), password } })
      return { id: String(body.user.id), token: String(body.access_token) }
    },
    exchange: (apiKey: string) =>
      send(url, '/token?grant_type=api_key', { body: { api_key: apiKey } }),
    verify: async (apiKey: string) =>
      (await send(url, '/api-keys/verify', { token: serviceToken, body: { api_key: apiKey } }))
        .body,
    asAdmin: (method: string, path: string, body?: unknown) =>
      send(url, path, { method, token: serviceToken, ...(body !== undefined && { body }) }),
  }
}
