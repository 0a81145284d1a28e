/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { parseConfig } from '../../../src/config/config.ts'
import { testEnvironment } from '../../support/auth-server.ts'

function read(url: string) {
  const { config, faults } = parseConfig({
    ...testEnvironment,
    DATABASE_URL: 'postgres://db.example/auth',
    AUTH_RATE_LIMIT_SERVICE_URL: url,
  })
  return { service: config.limits.service, faults: faults.map(toFaultText) }
}

const redis = {
  kind: 'redis',
  shape: 'single',
  isEncrypted: false,
  hosts: [{ host: 'r.example', port: 6_379 }],
  username: undefined,
  password: undefined,
  database: 0,
  primaryName: '',
  prefix: 'auth:limit:',
}
const grpc = {
  kind: 'grpc',
  address: 'l.example:8081',
  isEncrypted: false,
  domain: 'auth',
  rules: 'ours',
}

test('valid URLs of a rate limit service are parsed', () => {
  const cases: Readonly<Record<string, object>> = {
    'redis://r.example': redis,
    'REDIS://r.example/': redis,
    'rediss://r.example:6380/2': {
      ...redis,
      isEncrypted: true,
      hosts: [{ host: 'r.example', port: 6_380 }],
      database: 2,
    },
    'redis://me:p%40ss:word@r.example?prefix=one:': {
      ...redis,
      username: 'me',
      password: 'p@ss:word',
      prefix: 'one:',
    },
    'redis://:secret@[::1]:7000': {
      ...redis,
      password: 'secret',
      hosts: [{ host: '::1', port: 7_000 }],
    },
    'redis+cluster://a.example:7000,b.example': {
      ...redis,
      shape: 'cluster',
      hosts: [
        { host: 'a.example', port: 7_000 },
        { host: 'b.example', port: 6_379 },
      ],
    },
    'rediss+sentinel://a.example,b.example:26380/primary/1': {
      ...redis,
      shape: 'sentinel',
      isEncrypted: true,
      hosts: [
        { host: 'a.example', port: 26_379 },
        { host: 'b.example', port: 26_380 },
      ],
      primaryName: 'primary',
      database: 1,
    },
    'grpc://l.example:8081': grpc,
    'grpcs://[2001:db8::1]:443?domain=logins&rules=service': {
      ...grpc,
      address: '[2001:db8::1]:443',
      isEncrypted: true,
      domain: 'logins',
      rules: 'service',
    },
  }
  for (const [url, service] of Object.entries(cases)) {
    assert.deepEqual(read(url), { service, faults: [] }, url)
  }
  assert.deepEqual(read(''), { service: undefined, faults: [] })
})

test('an invalid URL is reported by name with the expected form', () => {
  const cases: Readonly<Record<string, RegExp>> = {
    'http://r.example': /must be a URL such as redis:\/\/host:port or grpc:\/\/host:port/,
    'r.example:6379': /must be a URL such as redis:/,
    'redis://': /must be a URL such as redis:/,
    'redis://r.example:0': /has an invalid host or port/,
    'redis://r.example:70000': /has an invalid host or port/,
    'redis://r example': /has an invalid host or port/,
    'redis://a.example,b.example': /redis\+cluster:/,
    'redis://r.example/zero': /number of a database/,
    'redis://r.example/1/2': /number of a database/,
    'redis://r.example?db=1': /unknown parameter db; the only parameter is prefix/,
    'redis+cluster://r.example/1': /no numbered databases/,
    'redis+sentinel://r.example': /must name the primary/,
    'redis://me:50%@r.example': /%25/,
    'grpc://l.example': /must have a port/,
    'grpc://me@l.example:1': /must not have a user/,
    'grpc://l.example:1/auth': /must end with the port/,
    'grpc://l.example:1,m.example:1': /one host/,
    'grpc://l.example:1?rules=none': /invalid parameter rules: it must be ours or service/,
  }
  for (const [url, message] of Object.entries(cases)) {
    const { service, faults } = read(url)
    assert.deepEqual([service, faults.length], [undefined, 1], url)
    assert.match(faults[0] ?? '', /^AUTH_RATE_LIMIT_SERVICE_URL="/, url)
    assert.match(faults[0] ?? '', message, url)
  }
  assert.doesNotMatch(read('redis://me:hunter2@r.example/zero').faults.join(), /hunter2/)
})

test('the timeout of the service must be within its range', () => {
  for (const text of ['0s', '11s']) {
    const { faults } = parseConfig({
      ...testEnvironment,
      DATABASE_URL: 'postgres://db.example/auth',
      AUTH_RATE_LIMIT_SERVICE_TIMEOUT: text,
    })
    assert.match(faults.map(toFaultText).join(), /^AUTH_RATE_LIMIT_SERVICE_TIMEOUT=.*between 1ms/)
  }
})
