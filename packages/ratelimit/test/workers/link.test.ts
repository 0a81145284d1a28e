import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FromWorker as FromEveryWorker } from '@portcullis/service-kit/workers/messages'
import type { Channel } from '@portcullis/service-kit/workers/primary-link'
import { Statistics } from '../../src/stats/registry.ts'
import { RatelimitLink } from '../../src/workers/link.ts'
import type { FromWorker } from '../../src/workers/messages.ts'
import { collectLog } from '../support/collected-log.ts'

function openLink({ isLead = false } = {}) {
  const sent: (FromWorker | FromEveryWorker)[] = []
  let onSent = () => {}
  const send: NonNullable<Channel<FromWorker>['send']> = (message, _handle, _options, done) => {
    sent.push(message)
    done(null)
    onSent()
    return true
  }
  const { log, lines } = collectLog()
  const channel = { connected: true, send }
  const link = new RatelimitLink(channel, log, { isLead, onStop: () => {} })
  const until = (kind: string) =>
    new Promise<void>((resolve) => {
      onSent = () => {
        if (sent.at(-1)?.kind === kind) resolve()
      }
    })
  return { link, log, lines, sent, until }
}

test('only the lead worker logs messages that are common to all workers, at every level', () => {
  const { link, log, lines } = openLink({ isLead: true })
  const shared = link.toSharedLog(log)
  for (const level of ['fatal', 'error', 'warning', 'info', 'debug', 'trace'] as const) {
    shared[level](level)
    assert.equal(shared.isEnabled(level), true)
  }
  assert.equal(lines.length, 6)
  assert.equal(link.unloggedError, undefined)
})

test('a worker that is not the lead does not log common messages, and keeps its last error', () => {
  const { link, log, lines } = openLink()
  const shared = link.toSharedLog(log)
  shared.error('first')
  shared.error(() => 'second')
  shared.warning('third')
  assert.deepEqual(lines, [])
  assert.equal(shared.isEnabled('error'), false)
  assert.equal(link.unloggedError, 'second')
})

test('a worker logs its own messages even if another one is the lead', () => {
  const { link, log, lines } = openLink()
  const shared = link.toSharedLog(log, () => true)
  shared.warning('mine')
  assert.equal(lines.length, 1)
  assert.equal(shared.isEnabled('warning'), true)
})

test('a worker becomes the lead when the primary says so', () => {
  const { link, log, lines } = openLink()
  let terminating = 0
  link.onTerminating(() => {
    terminating += 1
  })
  const shared = link.toSharedLog(log)
  link.take({ kind: 'lead' }, undefined)
  shared.info('now')
  assert.equal(lines.length, 1)
  assert.equal(terminating, 0)
  link.take({ kind: 'terminating' }, undefined)
  assert.equal(terminating, 1)
})

test('connections are reported when their number changes', () => {
  const { link, sent } = openLink()
  for (const count of [0, 0, 1, 1]) link.reportConnections('grpc', count)
  link.reportConnections('http', 1)
  assert.deepEqual(sent, [
    { kind: 'connections', listener: 'grpc', count: 0 },
    { kind: 'connections', listener: 'grpc', count: 1 },
    { kind: 'connections', listener: 'http', count: 1 },
  ])
})

test('a report is requested by its id, and confirmed after its statistics', async (t) => {
  const { link, sent, until } = openLink()
  const statistics = new Statistics({ maxRequestKeys: 5 })
  statistics.counter('a').value += 3
  const reports = link.openReports({
    statistics,
    sendsDurations: false,
    processGauges: () => [],
    rules: () => undefined,
  })
  t.after(() => reports[Symbol.asyncDispose]())
  const reported = until('reported')
  link.take({ kind: 'report', id: 7 }, undefined)
  await reported
  const [first] = sent
  assert.ok(first?.kind === 'singles')
  assert.deepEqual(first.counters, [['a', 3]])
  assert.deepEqual(sent.at(-1), { kind: 'reported', id: 7 })
})
