import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findMisspellings, findSimilarName } from '@portcullis/service-kit/text/similar-names'

const known = new Set([
  'KVSTORE_URL',
  'REDIS_POOL_SIZE',
  'LocalCacheSizeInBytes',
  'PORT',
  'HOST',
  'DRAIN_DELAY',
])

const slips: readonly (readonly [string, string])[] = [
  ['KVSTORE_UR', 'KVSTORE_URL'],
  ['KVSTORE_ULR', 'KVSTORE_URL'],
  ['REDIS_POOLSIZE', 'REDIS_POOL_SIZE'],
  ['redis_pool_size', 'REDIS_POOL_SIZE'],
  ['LOCALCACHESIZEINBYTES', 'LocalCacheSizeInBytes'],
  ['DRAIN_DELY', 'DRAIN_DELAY'],
]
for (const [name, suggestion] of slips) {
  test(`${suggestion} is suggested for ${name}`, () => {
    assert.deepEqual(findMisspellings([name], known), [{ name, suggestion }])
  })
}

const others = [
  'KVSTORE_URL',
  'PATH',
  'HOME',
  'HOSTNAME',
  'PORTS',
  'REDIS_PORT',
  'REDIS_SERVICE_HOST',
  'XVSTORE_URL',
  'KVSTORE_PASSWORD',
]
for (const name of others) {
  test(`nothing is suggested for ${name}`, () => {
    assert.deepEqual(findMisspellings([name], known), [])
  })
}

const commandNames = ['up', 'serve', 'migrate', 'completion', 'config', 'config-dir']
for (const [written, meant] of [
  ['pu', 'up'],
  ['sevre', 'serve'],
  ['migrat', 'migrate'],
  ['comp', 'completion'],
  ['conifg', 'config'],
  ['x', undefined],
  ['backup', undefined],
] as const) {
  test(`${meant} is suggested for ${written}`, () => {
    assert.equal(findSimilarName(written, commandNames), meant)
  })
}
