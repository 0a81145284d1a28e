import assert from 'node:assert/strict'
import { test } from 'node:test'
import { descriptor, requestFor } from '../support/decider.ts'
import { exchangeRaw } from '../support/raw-http.ts'
import { openService } from '../support/service-app.ts'
import { openDecisionClient, postJson } from '../support/service-client.ts'

const rules =
  'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 9 } }]\n'

test('the listeners of a service', async (t) => {
  const service = await openService(t, { rules })
  const { decide } = await openDecisionClient(t, service)
  const httpPort = Number(new URL(service.httpUrl).port)
  const debugPort = Number(new URL(service.debugUrl).port)
  /** Sends the target unchanged, because a client library would resolve its dots. */
  const get = (port: number, target: string) =>
    exchangeRaw(t, port, `GET ${target} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n`)

  await t.test('serve only fixed pages, and no file by any path', async () => {
    const targets = [
      '/../../../../../../etc/hosts',
      '/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/hosts',
      '/rlconfig/../../../../../etc/hosts',
      '/debug/pprof/..%2f..%2f..%2f..%2fetc/hosts',
      '/json/..\\..\\..\\etc\\hosts',
      '/stats%00/../../etc/hosts',
      `/${service.rules.path}/rules.yaml`,
    ]
    const endpoints = (await get(debugPort, '/')).split('\r\n\r\n')[1]
    for (const target of targets) {
      assert.match(await get(httpPort, target), /^HTTP\/1\.1 404 /, target)
      const answer = await get(debugPort, target)
      assert.ok(
        answer.startsWith('HTTP/1.1 404 ') || answer.endsWith(`\r\n\r\n${endpoints}`),
        answer,
      )
    }
  })

  await t.test('show no debug pages on the other ports', async () => {
    for (const path of ['/', '/stats', '/rlconfig', '/debug/pprof/', '/debug/pprof/heap']) {
      assert.match(await get(httpPort, path), /^HTTP\/1\.1 404 /, path)
    }
  })

  await t.test('make no decisions on the debug port', async () => {
    const body = '{"domain":"d","descriptors":[{"entries":[{"key":"k","value":"debug"}]}]}'
    const answer = await postJson({ httpUrl: service.debugUrl }, body)
    assert.doesNotMatch(answer.text, /overallCode/)
    const { statuses } = await decide(requestFor('d', descriptor('k=debug', { hitsAddend: 0 })))
    assert.equal(statuses[0]?.limitRemaining, 9)
  })

  await t.test('treat names of properties that every object has as ordinary names', async () => {
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']
    for (const name of names) {
      const body = `{"domain":"d","descriptors":[{"entries":[{"key":"${name}","value":"${name}"}]}]}`
      assert.deepEqual(
        [(await postJson(service, body)).text],
        ['{"overallCode":"OK","statuses":[{"code":"OK"}]}'],
        name,
      )
      const { statuses } = await decide(requestFor(name, descriptor(`${name}=${name}`)))
      assert.equal(statuses[0]?.currentLimit, undefined)
      assert.equal((await postJson(service, `{"${name}":{"domain":"d"}}`)).status, 400, name)
    }
    assert.equal(Object.hasOwn(Object.prototype, 'domain'), false)
  })
})
