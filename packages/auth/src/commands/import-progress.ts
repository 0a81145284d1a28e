import { performance } from 'node:perf_hooks'
import type { CommandIo } from '@portcullis/service-kit/cli/command'
import type { ImportProgress } from '../import/import-settings.ts'

const barWidth = 30
const lineEveryMs = 10_000

interface ProgressDisplay {
  show(progress: ImportProgress): void
  /** Completes the current line. */
  end(): void
}

/** Shows a bar on a terminal; otherwise it writes a line per table, and one every ten seconds. */
export function createImportProgress({ stderr, isTerminal }: CommandIo): ProgressDisplay {
  let shown = ''
  let shownAt = performance.now()
  let hasBar = false
  return {
    show({ label, done, total }) {
      const isDone = total !== undefined && done >= total
      const text = total === undefined ? `${label}: ${done}` : `${label}: ${done} of ${total}`
      if (isTerminal) {
        stderr.write(`\r\u001B[K${toBar(done, total)}${text}${isDone ? '\n' : ''}`)
        hasBar = !isDone
        return
      }
      const isDue = isDone || performance.now() - shownAt > lineEveryMs
      if (!isDue || text === shown) return
      stderr.write(`${text}\n`)
      shown = text
      shownAt = performance.now()
    },
    end() {
      if (hasBar) stderr.write('\n')
      hasBar = false
    },
  }
}

function toBar(done: number, total: number | undefined): string {
  if (total === undefined) return ''
  const filled = total === 0 ? barWidth : Math.round((barWidth * Math.min(done, total)) / total)
  return `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}] `
}
