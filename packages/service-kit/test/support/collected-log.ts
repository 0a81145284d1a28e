import { createLog, type Log } from '../../src/log/log.ts'

/** A log whose lines are kept as `level message`. */
export function collectLog(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = []
  const write = (line: string) => {
    const { level, '@message': message } = JSON.parse(line)
    lines.push(`${level} ${message}`)
  }
  return { log: createLog({ level: 'trace', format: 'json', write }), lines }
}
