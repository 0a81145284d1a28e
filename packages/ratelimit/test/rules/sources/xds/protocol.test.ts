import assert from 'node:assert/strict'
import { test } from 'node:test'
import { letEventsPass, until } from '../../../support/file-source.ts'
import { openAdsServer, toResource, toRules, typeUrl } from './support/ads-server.ts'
import { openSource } from './support/xds-source.ts'

test('the first request contains the node and the type, and no version, nonce or resource', async (t) => {
  const server = await openAdsServer(t)
  openSource(t, {
    serverUrl: server.url,
    nodeId: 'edge-7',
    nodeMetadata: new Map([
      ['region', 'eu'],
      ['tier', 'a=b'],
    ]),
    headers: new Map([
      ['X-Token', 's3cret'],
      ['x-team', 'a:b'],
    ]),
  })
  const stream = await server.stream(1)
  const request = await stream.request(1)
  assert.equal(request.node?.id, 'edge-7')
  assert.deepEqual(request.node?.metadata, { region: 'eu', tier: 'a=b' })
  assert.equal(request.typeUrl, typeUrl)
  assert.equal(request.versionInfo, '')
  assert.equal(request.responseNonce, '')
  assert.deepEqual(request.resourceNames, [])
  assert.equal(request.errorDetail, undefined)
  assert.deepEqual(stream.metadata.get('x-token'), ['s3cret'])
  assert.deepEqual(stream.metadata.get('x-team'), ['a:b'])
})

test('a valid response takes effect and is acknowledged with its version and nonce', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url })
  const stream = await server.stream(1)
  await stream.request(1)
  stream.send({ version: 'v1', nonce: 'n1', resources: [toRules(5)] })
  const answer = await stream.request(2)
  assert.equal(answer.versionInfo, 'v1')
  assert.equal(answer.responseNonce, 'n1')
  assert.equal(answer.typeUrl, typeUrl)
  assert.equal(answer.errorDetail, undefined)
  assert.equal(source.requests(), 5)
  await source.firstAttempt
  assert.ok(source.lines.includes('info Successfully loaded new configuration'))
})

test('an invalid response is refused with the reason, and the rules and the version stay', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url })
  const stream = await server.stream(1)
  stream.send({ version: 'v1', nonce: 'n1', resources: [toRules(5)] })
  await stream.request(2)
  const bad = toResource({ name: 'shop', domain: 'd', descriptors: [{ key: 'k' }, { key: '' }] })
  stream.send({ version: 'v2', nonce: 'n2', resources: [bad] })
  const answer = await stream.request(3)
  assert.equal(answer.versionInfo, 'v1')
  assert.equal(answer.responseNonce, 'n2')
  assert.equal(answer.errorDetail?.message, 'shop: descriptor has empty key')
  assert.equal(source.requests(), 5)
  assert.deepEqual(
    source.failures.map(({ message }) => message),
    ['shop: descriptor has empty key'],
  )
  const line =
    'error Error loading new configuration: shop: descriptor has empty key (at descriptors[1])'
  assert.ok(source.lines.includes(line), source.lines.join('\n'))

  stream.send({ version: 'v3', nonce: 'n3', resources: [toRules(6)] })
  const healed = await stream.request(4)
  assert.equal(healed.versionInfo, 'v3')
  assert.equal(healed.errorDetail, undefined)
  assert.equal(source.requests(), 6)
})

test('the first refusal contains no version, and ends the first attempt', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url })
  const stream = await server.stream(1)
  stream.send({ version: 'v1', nonce: 'n1', resources: [toRules(5, '')] })
  const answer = await stream.request(2)
  assert.equal(answer.versionInfo, '')
  assert.equal(answer.responseNonce, 'n1')
  assert.equal(answer.errorDetail?.message, 'a: config file cannot have empty domain')
  await source.firstAttempt
  assert.deepEqual(source.snapshots, [])
})

test('a resource that a response omits is removed', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url })
  const stream = await server.stream(1)
  stream.send({ version: '1', nonce: '1', resources: [toRules(1, 'd'), toRules(2, 'e', 'b')] })
  await stream.request(2)
  assert.deepEqual([source.requests('d'), source.requests('e')], [1, 2])
  stream.send({ version: '2', nonce: '2', resources: [toRules(2, 'e', 'b')] })
  await stream.request(3)
  assert.deepEqual([source.requests('d'), source.requests('e')], [undefined, 2])
})

test('an empty set of resources is an empty configuration, and accepted', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url })
  const stream = await server.stream(1)
  stream.send({ version: '1', nonce: '1', resources: [toRules(1)] })
  await stream.request(2)
  stream.send({ version: '2', nonce: '2' })
  const answer = await stream.request(3)
  assert.equal(answer.versionInfo, '2')
  assert.equal(answer.errorDetail, undefined)
  assert.equal(source.snapshots.length, 2)
  assert.equal(source.snapshots.at(-1)?.domainCount, 0)
})

test('two resources of one domain are refused, unless domains are merged', async (t) => {
  const server = await openAdsServer(t)
  const resources = [
    toRules(1),
    toResource({ name: 'b', domain: 'd', descriptors: [{ key: 'other' }] }),
  ]
  for (const mergeDomains of [false, true]) {
    const source = openSource(t, { serverUrl: server.url, mergeDomains })
    const stream = await server.stream(mergeDomains ? 2 : 1)
    stream.send({ version: '1', nonce: '1', resources })
    const answer = await stream.request(2)
    const refusal = mergeDomains ? undefined : "b: duplicate domain 'd' in config file"
    assert.equal(answer.errorDetail?.message, refusal)
    assert.equal(source.snapshots.at(-1)?.ruleCount, mergeDomains ? 2 : undefined)
    await source.close()
  }
})

test('a response of another type is refused and removes nothing', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url })
  const stream = await server.stream(1)
  stream.send({ version: '1', nonce: '1', resources: [toRules(1)] })
  await stream.request(2)
  const other = 'type.googleapis.com/envoy.config.cluster.v3.Cluster'
  stream.send({ version: '2', nonce: '2', typeUrl: other })
  const answer = await stream.request(3)
  assert.equal(answer.versionInfo, '1')
  assert.equal(answer.responseNonce, '2')
  assert.match(answer.errorDetail?.message ?? '', /is of type '.*Cluster', not ratelimit\.config/)
  assert.equal(source.requests(), 1)
  assert.equal(source.failures.length, 1)
})

test('a response without a type is accepted, as in envoyproxy/ratelimit', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url })
  const stream = await server.stream(1)
  stream.send({ version: '1', nonce: '1', typeUrl: '', resources: [toRules(1)] })
  assert.equal((await stream.request(2)).errorDetail, undefined)
  assert.equal(source.requests(), 1)
})

test('a resource of another type, or one that cannot be decoded, is refused and counted', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url })
  const stream = await server.stream(1)
  stream.send({ version: '1', nonce: '1', resources: [toRules(1)] })
  await stream.request(2)
  const other = { ...toRules(2), typeUrl: 'type.googleapis.com/google.protobuf.Struct' }
  stream.send({ version: '2', nonce: '2', resources: [other] })
  const wrong = await stream.request(3)
  assert.match(wrong.errorDetail?.message ?? '', /^resource 1 of 1: the resource is of type/)
  const garbage = { ...toRules(3), value: Uint8Array.from([0x0a, 0xff, 0x01, 0x02]) }
  stream.send({ version: '3', nonce: '3', resources: [toRules(2), garbage] })
  const undecodable = await stream.request(4)
  assert.match(undecodable.errorDetail?.message ?? '', /^resource 2 of 2: .* cannot be decoded: /)
  assert.equal(undecodable.versionInfo, '1')
  assert.equal(source.failures.length, 2)
  assert.equal(source.requests(), 1)
})

test('the same version again is loaded and accepted again', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url })
  const stream = await server.stream(1)
  stream.send({ version: '1', nonce: 'a', resources: [toRules(1)] })
  await stream.request(2)
  stream.send({ version: '1', nonce: 'b', resources: [toRules(2)] })
  const answer = await stream.request(3)
  assert.deepEqual([answer.versionInfo, answer.responseNonce], ['1', 'b'])
  assert.equal(source.requests(), 2)
})

test('responses in quick succession are processed one after the other', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url })
  const stream = await server.stream(1)
  for (let version = 1; version <= 20; version++) {
    const resources = [toRules(version)]
    stream.send({ version: `${version}`, nonce: `n${version}`, resources })
  }
  await stream.request(21)
  assert.deepEqual(
    stream.requests.slice(1).map(({ versionInfo }) => Number(versionInfo)),
    Array.from({ length: 20 }, (_, index) => index + 1),
  )
  assert.equal(source.requests(), 20)
})

test('a server that immediately repeats a refused response is slowed down', async (t) => {
  const bad = [toRules(1, '')]
  const server = await openAdsServer(t, {
    onRequest: (stream, { responseNonce }) =>
      stream.send({ version: 'bad', nonce: `${Number(responseNonce) + 1}`, resources: bad }),
  })
  const source = openSource(t, { serverUrl: server.url })
  const stream = await server.stream(1)
  // The pauses are 0, 100, 200, 400 … ms: without them there would be thousands by then.
  await stream.request(3)
  await letEventsPass()
  assert.ok(stream.requests.length < 10, `${stream.requests.length} requests`)
  assert.equal(source.snapshots.length, 0)
})

test('a valid response is processed immediately while a repeated refusal is delayed', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url })
  const stream = await server.stream(1)
  for (let nonce = 1; nonce <= 8; nonce++) {
    stream.send({ version: 'bad', nonce: `${nonce}`, resources: [toRules(1, '')] })
  }
  stream.send({ version: 'good', nonce: '9', resources: [toRules(9)] })
  await until(() => source.requests() === 9, 'the good rules are in force')
  const last = await stream.request(10)
  assert.deepEqual([last.versionInfo, last.responseNonce], ['good', '9'])
})

test('closing ends the first attempt, the stream and a load in progress', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url })
  const stream = await server.stream(1)
  await stream.request(1)
  assert.equal(source.hasTried, false)
  const descriptors = Array.from({ length: 20_000 }, (_, index) => ({ key: `k${index}` }))
  stream.send({ version: '1', nonce: '1', resources: [toResource({ domain: 'd', descriptors })] })
  await letEventsPass()
  await source.close()
  await source.firstAttempt
  await until(() => stream.isOver, 'the server sees the end')
  assert.deepEqual(source.failures, [])
})
