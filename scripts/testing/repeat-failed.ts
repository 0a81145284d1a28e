import { relative } from 'node:path'
import { styleText } from 'node:util'
import { type LegResult, type RunOptions, runLeg } from './run-leg.ts'
import { root } from './test-files.ts'

/** When more files fail, the reason is not chance, and repeating them says nothing. */
const maxFiles = 3

/**
 * Runs a leg. A few files that failed run once more, one after the other and with nothing beside them,
 * only to tell an unsteady test from a broken one: the run has failed either way.
 */
export async function runAndRepeatFailed(options: RunOptions): Promise<LegResult> {
  const first = await runLeg(options)
  const files = first.failedFiles.map((file) => relative(root, file))
  if (files.length === 0 || files.length > maxFiles) return first
  console.log(styleText('yellow', `  Once more, alone: ${files.join(', ')}`))
  const second = await runLeg({ ...options, files, concurrency: 1 })
  const failedAgain = second.failedFiles.map((file) => relative(root, file))
  const unsteadyFiles = files.filter((file) => !failedAgain.includes(file))
  return { ...first, unsteadyFiles, seconds: first.seconds + second.seconds }
}
