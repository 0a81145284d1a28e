import { relative } from 'node:path'
import { styleText } from 'node:util'
import { type LegResult, type RunOptions, runLeg } from './run-leg.ts'
import { root } from './test-files.ts'

/** If more processes fail, the reason is systematic, and repeating them gives no information. */
const maxProcesses = 3

/**
 * Runs a few failed processes once more, one after the other and alone, only to distinguish a flaky
 * test from a broken one: the run has failed in both cases.
 * @param first the result of `runLeg` with the same options.
 */
export async function repeatFailed(options: RunOptions, first: LegResult): Promise<LegResult> {
  const processes = first.failedProcesses
  if (processes.length === 0 || processes.length > maxProcesses) return first
  const files = toPaths(first)
  console.log(styleText('yellow', `  Running again, alone: ${files.join(', ')}`))
  const second = await runLeg({ ...options, files: processes, concurrency: 1 })
  const failedAgain = toPaths(second)
  const flakyFiles = files.filter((file) => !failedAgain.includes(file))
  return { ...first, flakyFiles, seconds: first.seconds + second.seconds }
}

function toPaths({ failedFiles }: LegResult): string[] {
  return failedFiles.map((file) => relative(root, file))
}
