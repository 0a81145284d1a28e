import type { ClientBase } from 'pg'

export const begin = 'begin'
export const commit = 'commit'
export const rollback = 'rollback'

/** Begins a transaction in which all tables are read from one snapshot, and nothing can be written. */
export const beginSnapshot = 'begin transaction isolation level repeatable read, read only'

/** Runs the steps in a transaction, which is rolled back if one of them fails. */
export async function runTransaction<Result>(
  client: ClientBase,
  steps: () => Promise<Result>,
): Promise<Result> {
  await client.query(begin)
  try {
    const result = await steps()
    await client.query(commit)
    return result
  } catch (error) {
    await client.query(rollback).catch(() => undefined)
    throw error
  }
}
