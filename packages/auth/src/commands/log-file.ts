import { closeSync, openSync } from 'node:fs'
import type { CommandIo } from '@portcullis/service-kit/command'
import { toReason } from './reason.ts'

export interface LogFile extends Disposable {
  readonly fd: number
}

/** Standard error where no file is named. Undefined when it cannot be opened, and that was said. */
export function openLogFile({ stderr }: CommandIo, path: string | undefined): LogFile | undefined {
  if (path === undefined) return { fd: 2, [Symbol.dispose]() {} }
  try {
    const fd = openSync(path, 'a', 0o660)
    return { fd, [Symbol.dispose]: () => closeSync(fd) }
  } catch (error) {
    stderr.write(
      `The server cannot start: AUTH_LOG_FILE=${JSON.stringify(path)} cannot be opened: ${toReason(error)}\n`,
    )
    return undefined
  }
}
