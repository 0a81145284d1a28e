import type { CommandIo } from '@portcullis/service-kit/cli/command'
import { createLog, type Log } from '@portcullis/service-kit/log/log'

/** The log of a command that prints its result: only problems are written, as text for people. */
export function createCommandLog({ stderr }: CommandIo, level: 'warning' | 'error'): Log {
  return createLog({ level, format: 'text', write: (line) => stderr.write(line) })
}
