import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CounterState, KeyAccess, TopKeys } from '../../src/transports/debug/key-access.ts'
import { KeyError } from '../../src/transports/debug/key-access.ts'
import { answerKeyQuestion, WorkerKeys } from '../../src/workers/key-questions.ts'
import type { ToWorker } from '../../src/workers/messages.ts'

const target = { domain: 'd', entries: [{ key: 'user', value: 'ada' }] }
const note = { domain: 'd', entries: target.entries, limit: undefined, isCut: false }
const unreachable = async (): Promise<never> => {
  throw new Error('unexpected')
}

function toTop(hits: number): TopKeys {
  const key = {
    ...note,
    key: 'k',
    hits,
    limited: 0,
    most: hits,
    rule: 'd.user',
    limitText: '1 per day',
  }
  return { sinceMs: 1, isEstimate: false, floor: 0, keys: [key] }
}

/** Workers that respond with these values; a worker without a value hangs. */
function openKeys(accesses: readonly (KeyAccess | 'hangs')[]) {
  const asked: number[] = []
  const workers = accesses.map((access, index) => ({
    number: index + 1,
    isReady: true,
    isResponsive: access !== 'hangs',
    send(message: ToWorker) {
      if (message.kind !== 'keys') return
      asked.push(index + 1)
      if (access === 'hangs') return
      const { id, question } = message
      void answerKeyQuestion(access, question).then((answer) =>
        keys.take({ kind: 'keys', id, ...answer }),
      )
    },
  }))
  const keys = new WorkerKeys(() => workers)
  return { keys, workers, asked }
}

const serving = (access: Partial<KeyAccess>): KeyAccess => ({
  top: unreachable,
  inspect: unreachable,
  reset: unreachable,
  ...access,
})

test('the lists of the workers that answer are added up', async () => {
  const disabled = async () => {
    throw new KeyError(404, 'disabled')
  }
  const { keys } = openKeys([
    serving({ top: async () => toTop(2) }),
    serving({ top: disabled }),
    serving({ top: async () => toTop(3) }),
    'hangs',
  ])
  const { keys: found } = await keys.top('calls')
  assert.deepEqual(
    found.map(({ key, hits, rule }) => [key, hits, rule]),
    [['k', 5, 'd.user']],
  )
  const none = openKeys([serving({ top: disabled })])
  await assert.rejects(none.keys.top('calls'), new KeyError(404, 'disabled'))
})

test('one worker reads a counter, and all of them reset it', async () => {
  const state = { hits: 1 } as CounterState
  const access = serving({ inspect: async () => state, reset: async () => ({ ...state, hits: 0 }) })
  const { keys, asked } = openKeys([access, access])
  assert.equal((await keys.inspect(target)).hits, 1)
  assert.deepEqual(asked.splice(0), [1])
  assert.equal((await keys.reset(target)).hits, 0)
  assert.deepEqual(asked, [1, 2])
})

test('a reset fails if a worker exits before it responds, because its cache is unknown', async () => {
  const access = serving({ reset: async () => ({ hits: 0 }) as CounterState })
  const { keys, workers } = openKeys([access, 'hangs'])
  const resetting = keys.reset(target)
  const [, second] = workers
  assert.ok(second)
  keys.close(second)
  await assert.rejects(resetting, /^KeyError: Worker 2 has exited\. Try again\.$/)
})

test('errors keep their status, and a missing worker is reported', async () => {
  const refuse = async () => {
    throw new KeyError(404, 'No rule limits this descriptor')
  }
  const { keys } = openKeys([serving({ inspect: refuse })])
  await assert.rejects(keys.inspect(target), { status: 404 })
  await assert.rejects(openKeys([]).keys.inspect(target), { status: 503 })
  const starting = await answerKeyQuestion(undefined, { method: 'inspect', argument: target })
  assert.equal(starting.error?.status, 503)
})
