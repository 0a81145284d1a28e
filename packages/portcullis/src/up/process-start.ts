import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * When a process was started, in the system's own words; undefined when there is no such process.
 * Its number may be another's tomorrow, the pair of both not.
 */
export function readStartOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') return askPs(pid)
    // The second field is the program's name in parentheses, with anything in it.
    const [, rest = ''] = /^.*\)\s(.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    const fields = rest.split(' ')
    const isGone = fields[0] === 'Z' || fields[0] === 'X'
    return isGone ? undefined : fields[19]
  } catch {
    return undefined
  }
}

function askPs(pid: number): string {
  return execFileSync('ps', ['-o', 'lstart=', '-p', `${pid}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}
