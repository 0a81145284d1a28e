import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toListenError } from '../../src/app/listen.ts'

test('the message explains a conflict with the port of the auth server', () => {
  const messageOf = (port: number) => {
    const message = `listen EADDRINUSE: address already in use 0.0.0.0:${port}`
    const error = Object.assign(new Error(message), { code: 'EADDRINUSE' })
    return String(toListenError(error, 'gRPC', 'GRPC_HOST or GRPC_PORT'))
  }
  assert.match(messageOf(8081), /Change GRPC_HOST or GRPC_PORT\. The auth server .* AUTH_API_PORT/)
  assert.doesNotMatch(messageOf(9999), /AUTH_API_PORT/)
})
