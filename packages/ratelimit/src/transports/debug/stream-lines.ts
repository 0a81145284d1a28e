import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'

export interface Listing<Item> {
  readonly items: Iterable<Item> | AsyncIterable<Item>
  /** Returns the line without a line break. */
  readonly toLine: (item: Item) => string
  /** Returns the text after the last item. */
  readonly last?: () => string
}

/** Less than a millisecond of work in one turn of the event loop. */
const sliceCharacters = 32 << 10

/**
 * Responds with a line per item, however many there are. Decisions are not blocked, a slow reader delays
 * only itself, and a disconnect ends the work.
 */
export async function streamLines<Item>(
  response: ServerResponse,
  { items, toLine, last = () => '' }: Listing<Item>,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
  })
  let slice = ''
  /** Returns undefined instead of a promise if the slice has room for more, because awaiting has a cost. */
  const add = (item: Item): Promise<void> | undefined => {
    slice += `${toLine(item)}\n`
    if (slice.length < sliceCharacters) return undefined
    const hasRoom = response.write(slice)
    slice = ''
    return hasRoom ? setImmediate() : drained(response)
  }
  if (Symbol.iterator in items) {
    for (const item of items) {
      const pause = add(item)
      if (pause !== undefined) await pause
      if (response.destroyed) return
    }
  } else {
    for await (const item of items) {
      const pause = add(item)
      if (pause !== undefined) await pause
      if (response.destroyed) return
    }
  }
  response.end(slice + last())
}

async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return
  const left = new AbortController()
  const onClose = () => left.abort()
  response.once('close', onClose)
  await once(response, 'drain', { signal: left.signal }).catch(() => undefined)
  response.off('close', onClose)
}
