import { stripVTControlCharacters, styleText } from 'node:util'
import { toMessage } from '@portcullis/service-kit/text/reason'

/** Claims about the packages, each with its outcome on a separate line. */
export interface Proofs {
  /** Tests a claim; the result of the proof is added to its line. Resolves to whether it succeeded. */
  prove(claim: string, proof: () => Promise<string> | Promise<void>): Promise<boolean>
  /** Adds lines to print below the current claim. */
  note(lines: readonly string[]): void
  /** The claims that failed. */
  readonly failed: readonly string[]
  readonly count: number
}

const indent = ' '.repeat(10)

export function createProofs(write: (line: string) => void): Proofs {
  const failed: string[] = []
  let notes: string[] = []
  let count = 0
  return {
    failed,
    get count() {
      return count
    },
    note(lines) {
      notes.push(...lines)
    },
    async prove(claim, proof) {
      count++
      notes = []
      const start = performance.now()
      const seconds = () => `${((performance.now() - start) / 1000).toFixed(1)} s`.padStart(6)
      let isProven = true
      try {
        const result = await proof()
        const detail = typeof result === 'string' ? `: ${result.trim()}` : ''
        write(`${styleText('green', '✓')} ${seconds()}  ${claim}${detail}`)
      } catch (error) {
        isProven = false
        failed.push(claim)
        write(`${styleText('red', '✗')} ${seconds()}  ${claim}`)
        notes.push(...toText(error).split('\n'))
      }
      for (const line of notes) write(indent + line)
      // Proofs can run concurrently, and another one must not print these notes again.
      notes = []
      return isProven
    },
  }
}

// Most failures contain the output of a tool; only an error in these scripts needs its stack.
function toText(error: unknown): string {
  const isOurs = error instanceof TypeError || error instanceof ReferenceError
  return stripVTControlCharacters((isOurs && error.stack) || toMessage(error))
}
