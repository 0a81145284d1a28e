import type { TableReport } from './report.ts'

/**
 * Copies the rows of a table, and copies them again if a user was skipped because of an address that
 * may be free now: the previous owner of the address may have been updated afterwards.
 */
export async function copyWithSecondPass(copy: () => Promise<TableReport>): Promise<TableReport> {
  const first = await copy()
  if (first.updated === 0 || !hasTakenAddress(first)) return first
  const second = await copy()
  return {
    ...second,
    added: first.added + second.added,
    updated: first.updated + second.updated,
    unchanged: second.unchanged - first.added - first.updated,
  }
}

function hasTakenAddress({ skipped }: TableReport): boolean {
  return skipped['email taken'] !== undefined || skipped['phone taken'] !== undefined
}
