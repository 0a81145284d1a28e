import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { styleText } from 'node:util'
import type { MutantResult } from './test-mutants.ts'

export interface Score {
  readonly name: string
  readonly mutants: number
  readonly killed: number
  readonly survived: number
  /** Survivors in code that no selected test ran; they are included in `survived`. */
  readonly uncovered: number
  /** The percentage of killed mutants. */
  readonly score: number
}

export const isKilled = ({ status }: MutantResult) => status === 'killed' || status === 'timeout'

/** Reads the file that `--json` has written. */
export function readResults(file: string): MutantResult[] {
  return JSON.parse(readFileSync(file, 'utf8'))
}

export function toScore(name: string, results: readonly MutantResult[]): Score {
  const killed = results.filter(isKilled).length
  const uncovered = results.filter(({ status }) => status === 'no coverage').length
  const mutants = results.length
  const score = mutants === 0 ? 100 : Math.round((killed / mutants) * 1000) / 10
  return { name, mutants, killed, survived: mutants - killed, uncovered, score }
}

/** A score for each file, and one for all files. */
export function toScores(results: readonly MutantResult[]): Score[] {
  const byFile = Map.groupBy(results, ({ mutant }) => mutant.file)
  const scores = [...byFile].map(([file, own]) => toScore(file, own))
  return [...scores, toScore('All files', results)]
}

/** The survivors with their lines of code, then the table of scores. */
export function toReport(root: string, results: readonly MutantResult[]): string {
  const survivors = results.filter((result) => !isKilled(result))
  const blocks = survivors.map(({ mutant, status }) => {
    const line = readFileSync(join(root, mutant.file), 'utf8').split('\n')[mutant.line - 1] ?? ''
    const place = `${mutant.file}:${mutant.line}:${mutant.column}`
    const heading = `${styleText('red', status)} ${styleText('bold', place)}  ${mutant.description}`
    return `${heading}\n    ${line.trim()}`
  })
  return [...blocks, toTable(toScores(results))].join('\n\n')
}

function toTable(scores: readonly Score[]): string {
  const width = Math.max(...scores.map(({ name }) => name.length))
  const header = `${''.padEnd(width)}  mutants  killed  survived  no coverage   score`
  const rows = scores.map(({ name, mutants, killed, survived, uncovered, score }) => {
    const counts = [
      `${mutants}`.padStart(9),
      `${killed}`.padStart(8),
      `${survived}`.padStart(10),
      `${uncovered}`.padStart(13),
    ].join('')
    const color = score >= 80 ? 'green' : score >= 60 ? 'yellow' : 'red'
    return `${name.padEnd(width)}${counts}${styleText(color, `${score.toFixed(1)} %`.padStart(8))}`
  })
  return [header, ...rows].join('\n')
}
