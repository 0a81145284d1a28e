import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainFailure } from '../src/explain-failure.ts'

function toLookupError(hostname: string): Error {
  const message = `getaddrinfo ENOTFOUND ${hostname}`
  return Object.assign(new Error(message), { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname })
}

test('an unknown host is reported as the database host or the listen address', () => {
  assert.match(
    explainFailure(toLookupError('auth.invalid'), 'auth.invalid'),
    /The listen address cannot be resolved \(.*auth\.invalid\): check AUTH_API_HOST\.$/,
  )
  for (const host of ['auth.invalid', undefined]) {
    assert.match(
      explainFailure(toLookupError('db.invalid'), host),
      /^PostgreSQL cannot be reached \(.*db\.invalid\): check AUTH_DB_DATABASE_URL/,
    )
  }
})

test('PostgreSQL errors are reported with instructions', () => {
  const reasonOf = (code: string) => explainFailure(Object.assign(new Error('no'), { code }))
  assert.match(reasonOf('53300'), /no connection left \(no\): raise max_connections/)
  assert.match(reasonOf('25006'), /is read-only \(no\): name the primary/)
  assert.match(reasonOf('CERT_HAS_EXPIRED'), /certificate .* \(no\): check sslmode and sslrootcert/)
})

test('a conflict with the gRPC port of the rate limit service is named', () => {
  const reasonOf = (port: number) => {
    const message = `listen EADDRINUSE: address already in use 0.0.0.0:${port}`
    return explainFailure(
      Object.assign(new Error(message), { code: 'EADDRINUSE', syscall: 'listen' }),
    )
  }
  assert.match(
    reasonOf(8081),
    /set AUTH_API_PORT .* gRPC port of the rate limit service .*GRPC_PORT/,
  )
  assert.doesNotMatch(reasonOf(9999), /GRPC_PORT/)
})
