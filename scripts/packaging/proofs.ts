import { stripVTControlCharacters, styleText } from 'node:util'

/** Claims about the packages, each with its outcome on a line of its own. */
export interface Proofs {
  /** Tests a claim; what the proof resolves to is added to its line. Resolves to the outcome. */
  prove(claim: string, proof: () => Promise<string> | Promise<void>): Promise<boolean>
  /** Lines to print below the claim that is being proved. */
  note(lines: readonly string[]): void
  /** The claims that did not hold. */
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
      // Proofs run side by side.
      notes = []
      return isProven
    },
  }
}

// Most failures are a tool's own words; only an error in these scripts needs its stack.
function toText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isOurs = error instanceof TypeError || error instanceof ReferenceError
  return stripVTControlCharacters(isOurs ? (error.stack ?? error.message) : error.message)
}
