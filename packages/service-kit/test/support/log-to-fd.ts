// Logs to standard error as a service does, in ways the first argument names.
import process from 'node:process'
import { openLogOutput } from '@portcullis/service-kit/log-output'

const output = openLogOutput({ fd: 2, limitBytes: 100_000 })
const scenarios: Readonly<Record<string, () => void>> = {
  /** The process ends in the same turn. */
  'exit at once': () => {
    for (let line = 0; line < 1_000; line += 1) output.write(`line ${line}\n`)
    process.exit(0)
  },
  /** Nobody reads until told on standard output that everything was written. */
  'unread pipe': () => {
    for (let line = 0; line < 100_000; line += 1) output.write(`line ${line}\n`)
    process.stdout.write('still alive\n')
    process.stdin.once('data', () => {
      output.write('after\n')
      process.stdin.destroy()
    })
  },
}
scenarios[process.argv[2] ?? '']?.()
