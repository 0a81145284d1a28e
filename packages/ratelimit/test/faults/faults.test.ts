/**
 * @legs safety
 * @servers redis, redis-sentinel, redis-cluster, memcached
 * @slow
 */

// What clients see during faults in the environment of the service. `UPDATE_DOCS=1` writes the
// measurements into the manual.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type FaultResult, isMeasuring, runFault } from './fault.ts'
import { storeFaults } from './store-faults.ts'
import { surroundingFaults } from './surrounding-faults.ts'

const manual = join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'ratelimit.md')
const faults = [...storeFaults, ...surroundingFaults]
const results: FaultResult[] = []

// The tests mostly wait, so they run concurrently. Figures for the manual are measured sequentially.
const concurrency = isMeasuring ? 1 : 4

describe('faults', { concurrency }, () => {
  for (const fault of faults) {
    test(`${fault.name}: ${fault.expected}, nothing hangs, and the service recovers`, async (t) => {
      const result = await runFault(t, fault)
      if (result === undefined) return
      t.diagnostic(toRow(result))
      results.push(result)
    })
  }
})

test('the manual has a row for every fault', async () => {
  const text = await readFile(manual, 'utf8')
  const [start, end] = ['<!-- faults -->\n', '<!-- /faults -->']
  const [from, to] = [text.indexOf(start) + start.length, text.indexOf(end)]
  if (isMeasuring && results.length === faults.length) {
    const inOrder = faults.flatMap(({ name }) => results.filter((row) => row.name === name))
    await writeFile(manual, text.slice(0, from) + toTable(inOrder) + text.slice(to))
    return
  }
  const table = text.slice(from, to)
  for (const { name } of faults) assert.ok(table.includes(`| ${name} |`), name)
})

function toTable(rows: readonly FaultResult[]): string {
  const head =
    '| fault | calls while it lasted | of them failed | slowest call | recovery time | memory |\n' +
    '|---|---:|---:|---:|---:|---:|\n'
  return `${head}${rows.map((row) => `${toRow(row)}\n`).join('')}`
}

function toRow({ name, calls, failed, slowestMs, backMs, grownMegabytes }: FaultResult): string {
  const grown = `${grownMegabytes < 0 ? '−' : '+'}${Math.abs(Math.round(grownMegabytes))} MB`
  return `| ${name} | ${calls} | ${failed} | ${Math.round(slowestMs)} ms | ${Math.round(backMs)} ms | ${grown} |`
}
