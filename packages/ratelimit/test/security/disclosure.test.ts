/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { openAdsServer, toRules } from '../rules/sources/xds/support/ads-server.ts'
import { descriptor, requestFor } from '../support/decider.ts'
import { openDecisionClient, postJson } from '../support/service-client.ts'
import { startService, until } from '../support/service-process.ts'

const storePassword = 'store-hunter2'
const serverToken = 'token-hunter3'
const secrets = new RegExp(`${storePassword}|${serverToken}`)

/** A value that would forge a log line, or control the terminal in which the log is read. */
const forged = 'x\nlevel=fatal msg="forged"\r\n{"@message":"forged"}\u001b[2J\u202e'

test('a service with the most verbose log level', async (t) => {
  const redis = await open(t, 'redis', { password: storePassword })
  if (!redis) return
  const ads = await openAdsServer(t, {
    onStream: (stream) => stream.send({ version: '1', nonce: 'a', resources: [toRules(7)] }),
  })
  const service = await startService(t, {
    env: {
      LOG_LEVEL: 'trace',
      KVSTORE_URL: `redis://:${storePassword}@127.0.0.1:${redis.port}`,
      KVSTORE_PERSECOND: 'true',
      KVSTORE_PERSECOND_URL: `127.0.0.1:${redis.port}`,
      KVSTORE_PERSECOND_AUTH: storePassword,
      CONFIG_TYPE: 'GRPC_XDS_SOTW',
      CONFIG_GRPC_XDS_SERVER_URL: ads.url,
      CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: `authorization:Bearer ${serverToken}`,
    },
  })
  const client = await openDecisionClient(t, service)
  const stream = await ads.stream(1)
  assert.deepEqual(stream.metadata.get('authorization'), [`Bearer ${serverToken}`])
  const request = requestFor('d', descriptor('k=v'))
  assert.equal((await client.decide(request)).overallCode, 1)

  await t.test('writes values of clients into one line each', async () => {
    await client.decide(requestFor('d', descriptor(`k=${forged}`)))
    await client.decide(requestFor(`unknown${forged}`, descriptor('k=v')))
    const body = { domain: 'd', descriptors: [{ entries: [{ key: forged, value: forged }] }] }
    await postJson(service, JSON.stringify(body))
    await postJson(service, `{"${forged}`)
    await until(
      () => service.log.split('forged').length > 6,
      () => `everything was logged:\n${service.log}`,
    )
    for (const line of service.log.trimEnd().split('\n')) {
      assert.match(line, /^time="[^"]+" level=[a-z]+ msg=/)
      assert.doesNotMatch(line, /level=fatal msg="forged"$/)
    }
    // oxlint-disable-next-line no-control-regex -- exactly these must not be there
    assert.doesNotMatch(service.log, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
  })

  await t.test('shows no secret on any page', async () => {
    for (const path of [
      '/',
      '/rlconfig',
      '/stats',
      '/top',
      '/debug/pprof/',
      '/debug/pprof/goroutine',
    ]) {
      const page = await (await fetch(`${service.debugUrl}${path}`)).text()
      assert.ok(page.length > 0, path)
      assert.doesNotMatch(page, secrets, path)
    }
  })

  await t.test('shows no secret to clients or in its log when its store is lost', async () => {
    await redis.kill()
    const { code, message } = await client.tryDecide(request)
    assert.notEqual(code, 0)
    assert.match(message, /Redis/)
    assert.doesNotMatch(message, secrets)
    const { status, text } = await postJson(
      service,
      '{"domain":"d","descriptors":[{"entries":[{"key":"k","value":"v"}]}]}',
    )
    assert.equal(status, 503)
    assert.doesNotMatch(text, secrets)
    ads.close()
    await until(
      () => service.log.includes('Failed to receive configuration'),
      () => `the loss of the management server was logged:\n${service.log}`,
    )
    await service.stop()
    assert.doesNotMatch(service.log, secrets)
  })
})
