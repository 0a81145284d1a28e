import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { Families } from '../../../src/metrics/prometheus/families.ts'
import {
  type MetricsListenerSettings,
  openMetricsListener,
} from '../../../src/metrics/prometheus/listener.ts'
import { collectLog } from '../../support/collected-log.ts'

const settings = { port: 'METRICS_PORT', address: 'METRICS_HOST and METRICS_PORT' }

async function openListener(t: TestContext, more: Partial<MetricsListenerSettings> = {}) {
  const { log, lines } = collectLog()
  const families = new Families([], log)
  families.table('gauge', { name: 'up', help: 'Whether it runs' })?.row('').show()
  const listener = await openMetricsListener({
    host: '127.0.0.1',
    port: 0,
    paths: ['/metrics', '/'],
    settings,
    collect: async () => families,
    log,
    ...more,
  })
  t.after(() => listener[Symbol.asyncDispose]())
  return { listener, lines, url: `http://${listener.address}`, address: listener.address }
}

const page = '# HELP up Whether it runs\n# TYPE up gauge\nup 0\n'

test('GET and HEAD of the paths are answered, with or without a query', async (t) => {
  const { url } = await openListener(t)
  for (const path of ['/metrics', '/', '/metrics?name=up']) {
    const got = await fetch(`${url}${path}`)
    assert.deepEqual([got.status, await got.text()], [200, page])
    assert.equal(got.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    const head = await fetch(`${url}${path}`, { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
    assert.equal(head.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  }
})

test('another method is answered with 405 and the allowed methods, another path with 404', async (t) => {
  const { url } = await openListener(t)
  for (const method of ['POST', 'DELETE', 'OPTIONS']) {
    const { status, headers } = await fetch(`${url}/metrics`, { method })
    assert.deepEqual([status, headers.get('allow')], [405, 'GET, HEAD'])
  }
  for (const path of ['/other', '/metrics/', '/metricsx']) {
    const { status } = await fetch(`${url}${path}`)
    assert.equal(status, 404, path)
  }
})

test('a request target may be a whole URL', async (t) => {
  const { address } = await openListener(t)
  const [host = '', port] = address.split(':')
  const socket = connect(Number(port), host)
  socket.write('GET http://example.org/metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  assert.match(await text(socket), /^HTTP\/1\.1 200 OK\r\n/)
})

test('metrics that cannot be collected are answered with 503 and logged', async (t) => {
  let isBroken = true
  const { url, lines } = await openListener(t, {
    collect: async () => {
      if (isBroken) throw new Error('no metrics')
      return new Families([], collectLog().log)
    },
  })
  assert.equal((await fetch(`${url}/metrics`)).status, 503)
  assert.deepEqual(lines, ['error Metrics could not be collected: Error: no metrics'])
  isBroken = false
  assert.equal((await fetch(`${url}/metrics`)).status, 200)
})

test('the error for a port in use names the setting of the port', async (t) => {
  const { address } = await openListener(t)
  const port = Number(address.split(':')[1])
  await assert.rejects(openListener(t, { port }), {
    message:
      `Metrics cannot be served on 127.0.0.1:${port} (listen EADDRINUSE: address already in use ` +
      `127.0.0.1:${port}): stop the program that uses port ${port}, or set METRICS_PORT to another port.`,
  })
})

test('the error for any other fault of the address names all its settings', async (t) => {
  await assert.rejects(openListener(t, { host: '192.0.2.1' }), {
    message:
      /^Metrics cannot be served on 192\.0\.2\.1:0 \(.*\): check METRICS_HOST and METRICS_PORT\.$/,
  })
})

test('closing disconnects clients that have not sent a request yet, and can be repeated', async (t) => {
  const { listener, address } = await openListener(t)
  const [host = '', port] = address.split(':')
  const socket = connect(Number(port), host).on('error', () => {})
  await once(socket, 'connect')
  const closed = once(socket, 'close')
  await listener[Symbol.asyncDispose]()
  await closed
  await listener[Symbol.asyncDispose]()
})
