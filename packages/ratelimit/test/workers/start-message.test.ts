import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deserialize, serialize } from 'node:v8'
import { parseConfig } from '../../src/config/config.ts'

test('a worker receives the complete configuration unchanged', () => {
  const { config, faults } = parseConfig({
    KVSTORE_URL: 'localhost:6379',
    EXTRA_TAGS: 'a:b',
    USE_STATSD: 'false',
    USE_DOG_STATSD: 'true',
    USE_DOG_STATSD_MOGRIFIERS: 'X',
    DOG_STATSD_MOGRIFIER_X_PATTERN: '^a\\.(.*)$',
    DOG_STATSD_MOGRIFIER_X_NAME: 'a',
    DOG_STATSD_MOGRIFIER_X_TAGS: 'b:$1',
    TRACING_ENABLED: 'true',
    CONFIG_TYPE: 'GRPC_XDS_SOTW',
    CONFIG_GRPC_XDS_NODE_METADATA: 'a=b',
    GRPC_SERVER_USE_TLS: 'true',
    GRPC_SERVER_TLS_CERT: '/tls/tls.crt',
    GRPC_SERVER_TLS_KEY: '/tls/tls.key',
  })
  assert.deepEqual(faults, [])
  assert.deepEqual(deserialize(serialize(config)), config)
})
