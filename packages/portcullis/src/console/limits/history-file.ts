import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { toCode, toMessage } from '@portcullis/service-kit/text/reason'
import { type HistoryData, historyRangeNames } from './rule-history.ts'

/** 500 rules with hits in every step take about this much. */
const mostBytes = 32 * 1024 * 1024
const version = 1

/** @returns undefined if there is no file, or it cannot be used; the history then starts again. */
export function readHistoryFile(path: string): HistoryData | undefined {
  try {
    if (statSync(path).size > mostBytes) throw new Error('it is too large')
    const found = JSON.parse(readFileSync(path, 'utf8'))
    if (found?.version !== version || !isHistory(found)) throw new Error('its format is unknown')
    return found
  } catch (error) {
    if (toCode(error) !== 'ENOENT') {
      console.error(`${path} cannot be used, so the history starts again: ${toMessage(error)}`)
    }
    return undefined
  }
}

/** Replaces the file in one step, so that a crash does not leave half of it. */
export function writeHistoryFile(path: string, data: HistoryData): void {
  const next = `${path}.new`
  // Deleted first, so that nothing is written through a link.
  rmSync(next, { force: true })
  const text = JSON.stringify({ version, ...data }, round)
  writeFileSync(next, text, { mode: 0o600, flag: 'wx' })
  renameSync(next, path)
}

/** Hits are divided between steps, so they have fractions, whose last digits do not matter. */
function round(_name: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 1000) / 1000 : value
}

function isHistory(value: unknown): value is HistoryData {
  const { covered, rules } = value as Partial<HistoryData>
  const isTable = (table: unknown): table is Record<string, unknown> =>
    typeof table === 'object' && table !== null
  const hasRows = (table: unknown, columns: number) =>
    isTable(table) &&
    historyRangeNames.every((range) => {
      const rows = table[range]
      const isRow = (row: unknown) =>
        Array.isArray(row) && row.length === columns && row.every((each) => Number.isFinite(each))
      return Array.isArray(rows) && rows.every(isRow)
    })
  return (
    hasRows(covered, 2) &&
    Array.isArray(rules) &&
    rules.every((each) => {
      const { rule, lastMs, sinceMs, steps } = each ?? {}
      const isNamed =
        typeof rule === 'string' && Number.isFinite(lastMs) && Number.isFinite(sinceMs)
      return isNamed && hasRows(steps, 4)
    })
  )
}
