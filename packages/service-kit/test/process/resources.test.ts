import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Resources } from '../../src/process/resources.ts'

function createLog() {
  const disposed: string[] = []
  const sync = (name: string) => ({ [Symbol.dispose]: () => void disposed.push(name) })
  const async = (name: string) => ({
    async [Symbol.asyncDispose]() {
      await Promise.resolve()
      disposed.push(name)
    },
  })
  return { disposed, sync, async }
}

test('resources are disposed one after the other, the last one first', async () => {
  const { disposed, sync, async } = createLog()
  const resources = new Resources()
  const first = sync('first')
  assert.equal(resources.use(first), first)
  resources.use(async('second'))
  resources.use(sync('third'))
  await resources[Symbol.asyncDispose]()
  assert.deepEqual(disposed, ['third', 'second', 'first'])
  await resources[Symbol.asyncDispose]()
  assert.equal(disposed.length, 3, 'only once')
})

test('a resource that fails does not keep the others from being disposed', async () => {
  const { disposed, sync } = createLog()
  const resources = new Resources()
  resources.use(sync('first'))
  for (const message of ['later', 'earlier']) {
    resources.use({ [Symbol.asyncDispose]: () => Promise.reject(new Error(message)) })
  }
  await assert.rejects(async () => await resources[Symbol.asyncDispose](), /^Error: earlier$/)
  assert.deepEqual(disposed, ['first'])
})

test('moved resources are disposed only with their new owner', async () => {
  const { disposed, sync } = createLog()
  const opening = new Resources()
  opening.use(sync('first'))
  const moved = opening.move()
  await opening[Symbol.asyncDispose]()
  assert.deepEqual(disposed, [])
  moved.use(sync('second'))
  await moved[Symbol.asyncDispose]()
  assert.deepEqual(disposed, ['second', 'first'])
})
