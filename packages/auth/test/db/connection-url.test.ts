import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../../src/config/config.ts'
import { parseConnectionUrl, withLibpqVariables } from '../../src/db/connection/connection-url.ts'
import { testEnvironment } from '../support/auth-server.ts'

const parse = (url: string, environment = {}) =>
  parseConnectionUrl(withLibpqVariables(url, environment))

test('a URL has one or more hosts, with separate ports or a common one', () => {
  const hostsOf = (url: string) =>
    parse(url).hosts.map(({ host, port }) => `${host ?? ''}:${port ?? ''}`)
  assert.deepEqual(hostsOf('postgres://u@db/name'), ['db:'])
  assert.deepEqual(hostsOf('postgresql://u@db:6543/name'), ['db:6543'])
  assert.deepEqual(hostsOf('postgres://u@a:1,b:2,c/name'), ['a:1', 'b:2', 'c:'])
  assert.deepEqual(hostsOf('postgres://u@[::1]:5433,[fe80::1]/name'), ['::1:5433', 'fe80::1:'])
  assert.deepEqual(hostsOf('postgres://u@%2Frun%2Fpostgresql/name'), ['/run/postgresql:'])
  assert.deepEqual(hostsOf('postgres://u@localhost/name?host=/run/pg'), ['/run/pg:'])
  assert.deepEqual(hostsOf('postgres:///name?host=a,b&port=1,2'), ['a:1', 'b:2'])
  assert.deepEqual(hostsOf('postgres:///name?host=a,b&port=7'), ['a:7', 'b:7'])
  assert.deepEqual(hostsOf('postgres://'), [':'])
})

test('user, password and database may be percent-encoded, and a stray percent sign is kept', () => {
  const { user, password, database } = parse('postgres://us%40er:p%2Fa:ss%@db/na%20me')
  assert.deepEqual([user, password, database], ['us@er', 'p/a:ss%', 'na me'])
  assert.deepEqual(parse('postgres://db').user, undefined)
  assert.equal(parse('postgres://u@db/x?dbname=y&user=v&password=w').database, 'y')
})

test('parameters have the names of libpq, and its environment variables are the fallback', () => {
  const url = parse(
    'postgres://u@db/n?options=-c%20a%3Db&application_name=app&connect_timeout=3&sslmode=verify-full&sslrootcert=/ca.pem&sslcert=/c.pem&sslkey=/k.pem&target_session_attrs=primary&pgbouncer=true',
  )
  assert.equal(url.options, '-c a=b')
  assert.equal(url.applicationName, 'app')
  assert.equal(url.connectTimeoutMs, 3_000)
  assert.deepEqual(url.ssl, {
    mode: 'verify-full',
    rootCertificate: '/ca.pem',
    certificate: '/c.pem',
    key: '/k.pem',
    keyPassword: undefined,
  })
  assert.equal(url.session, 'primary')
  assert.deepEqual(url.ignored, ['pgbouncer'])
  const environment = { PGSSLMODE: 'verify-ca', PGSSLROOTCERT: '/x', PGOPTIONS: '-c b=c' }
  const { ssl, options } = parse('postgres://u@db/n', environment)
  assert.deepEqual([ssl.mode, ssl.rootCertificate, options], ['verify-ca', '/x', '-c b=c'])
  assert.equal(parse('postgres://u@db/n?sslmode=disable', environment).ssl.mode, 'disable')
})

test('the variables of libpq are part of the configuration', () => {
  const read = (more: object) => parseConfig({ ...testEnvironment, ...more }).config.database.url
  const url = 'postgres://u@db/n'
  assert.equal(read({ AUTH_DB_DATABASE_URL: url }), url)
  const set = { AUTH_DB_DATABASE_URL: `${url}?connect_timeout=3`, PGCONNECT_TIMEOUT: '4' }
  assert.equal(read({ ...set, PGOPTIONS: '-c b=c' }), `${url}?connect_timeout=3&options=-c%20b%3Dc`)
})

test('defaults are those of libpq, except that several hosts imply read-write', () => {
  assert.equal(parse('postgres://db/n').ssl.mode, 'prefer')
  assert.equal(parse('postgres://db/n').session, 'any')
  assert.equal(parse('postgres://a,b/n').session, 'read-write')
  assert.equal(parse('postgres://a,b/n?target_session_attrs=any').session, 'any')
  assert.equal(parse('postgres://db/n?sslrootcert=system').ssl.mode, 'verify-full')
  assert.equal(parse('postgres://db/n?ssl=true').ssl.mode, 'verify-full')
  assert.equal(parse('postgres://db/n?sslmode=no-verify').ssl.mode, 'require')
})

const wrong = {
  'mysql://db': /must be postgres:\/\/user:password@host:port\/name/,
  'postgres://u:p/w@db/n': /%2F for \//,
  'postgres://u@db:99999/n': /port .* from 1 to 65535/,
  'postgres://u@db:5a/n': /must be postgres/,
  'postgres://u@a:1,b:2/n?port=1,2,3': /2 hosts and 3 ports/,
  'postgres://u@db/n?sslmode=always': /sslmode must be one of disable, allow, prefer, require/,
  'postgres://u@db/n?sslmode=require&sslrootcert=system': /needs sslmode=verify-full/,
  'postgres://u@db/n?target_session_attrs=fast': /target_session_attrs must be one of any/,
  'postgres://u@db/n?connect_timeout=soon': /connect_timeout must be a number/,
  'postgres://u:%ff@db/n': /not UTF-8/,
}

test('an invalid URL is refused with a reason that does not contain the URL', () => {
  for (const [url, message] of Object.entries(wrong)) {
    assert.throws(() => parse(url), { name: 'SettingError', message }, url)
  }
})

test('the configuration names the variable with an invalid URL, and parameters without effect', () => {
  const read = (url: string) =>
    parseConfig({ ...testEnvironment, DATABASE_URL: url, AUTH_DB_CONN_PERCENTAGE: '101' })
  const { faults } = read('postgres://u:secret@db/n?sslmode=always')
  assert.deepEqual(
    faults.map(({ variable }) => variable),
    ['AUTH_DB_CONN_PERCENTAGE', 'DATABASE_URL'],
  )
  assert.doesNotMatch(JSON.stringify(faults), /secret/)
  const standby = read('postgres://u@db/n?target_session_attrs=standby').faults
  assert.match(`${standby.at(-1)?.message}`, /every sign-in writes/)
  const fixed = {
    ...testEnvironment,
    DATABASE_URL: 'postgres://u@db/n',
    AUTH_DB_MAX_POOL_SIZE: '5',
  }
  assert.ok(
    parseConfig({ ...fixed, AUTH_DB_CONN_PERCENTAGE: '20' }).notes.includes(
      'AUTH_DB_CONN_PERCENTAGE has no effect: AUTH_DB_MAX_POOL_SIZE is set',
    ),
  )
  assert.ok(
    read('postgres://u@db/n?schema=public').notes.some((note) =>
      /DATABASE_URL: the parameter schema has no effect/.test(note),
    ),
  )
})
