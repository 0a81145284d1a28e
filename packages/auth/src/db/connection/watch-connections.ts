import type { Pool } from 'pg'

/** @returns a function whose promise resolves when an ended pool has no connections left. */
export function watchConnections(pool: Pool): () => Promise<void> {
  const closed = Promise.withResolvers<void>()
  let count = 0
  pool.on('connect', () => {
    count += 1
  })
  pool.on('remove', () => {
    count -= 1
    if (pool.ended && count === 0) closed.resolve()
  })
  return async () => {
    if (count > 0) await closed.promise
  }
}
