// Logs to standard error as a service does, in the way that the first argument names.
import process from 'node:process'
import { createInterface } from 'node:readline'
import { openLogOutput } from '@portcullis/service-kit/log/log-output'

const output = openLogOutput({ fd: 2, limitBytes: 100_000 })
let lineCount = 0

function writeLines(count: number): void {
  for (let line = 0; line < count; line += 1) output.write(`line ${lineCount + line}\n`)
  lineCount += count
}

const scenarios: Readonly<Record<string, () => void>> = {
  /** The process exits in the same turn. */
  'exit at once': () => {
    writeLines(1_000)
    process.exit(0)
  },
  /**
   * Writes as many lines as each line of standard input says, and confirms it on standard output.
   */
  'as requested': () => {
    createInterface(process.stdin).on('line', (count) => {
      writeLines(Number(count))
      process.stdout.write('still alive\n')
    })
  },
}
scenarios[process.argv[2] ?? '']?.()
