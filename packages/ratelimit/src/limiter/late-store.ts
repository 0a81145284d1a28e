import { type CounterStore, StoreError } from '../counters/counter-store.ts'
import type { OpenedStore } from './store-by-url.ts'

/** A store whose driver is still being loaded. It is not asked before `ready`, except to be closed. */
export function createLateStore(opening: Promise<OpenedStore>): OpenedStore {
  let opened: CounterStore | undefined
  const ready = opening.then(async ({ store, ready: answers }) => {
    opened = store
    await answers
  })
  ready.catch(() => undefined)
  const late =
    (method: 'add' | 'addSparing' | 'read'): CounterStore['add'] =>
    (increments, deadlineMs, counted) => {
      if (opened === undefined) counted(new StoreError('the store is not open yet'))
      else opened[method](increments, deadlineMs, counted)
    }
  const store: CounterStore = {
    add: late('add'),
    addSparing: late('addSparing'),
    read: late('read'),
    async [Symbol.asyncDispose]() {
      // One that could not be opened has nothing to close.
      const store = await opening.then((each) => each.store).catch(() => undefined)
      await store?.[Symbol.asyncDispose]()
    },
  }
  return { store, ready }
}
