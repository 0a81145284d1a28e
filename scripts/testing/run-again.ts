import { relative } from 'node:path'
import { styleText } from 'node:util'
import { type Leg, root } from './matrix.ts'
import { type LegResult, type RunOptions, runLeg } from './run-leg.ts'

/** More files than this do not fail because the machine was busy. */
const maxFiles = 3

/**
 * Runs the leg, and the few files that failed in it once more, one after the other, with nothing beside
 * them: five files at a time on two cores starve each other now and then. Failures are always shown, and a
 * file that fails again has failed; one that does not is named at the end of the run.
 */
export async function runWithSecondTry(leg: Leg, options: RunOptions): Promise<LegResult> {
  const first = await runLeg(leg, options)
  const files = first.failedFiles.map((file) => relative(root, file))
  if (files.length === 0 || files.length > maxFiles) return first
  console.log(styleText('yellow', `  Once more, alone: ${files.join(', ')}`))
  const second = await runLeg(leg, { ...options, files, concurrency: 1 })
  const seconds = first.seconds + second.seconds
  if (second.failed > 0) return { ...first, seconds }
  return { ...first, failed: 0, failedFiles: [], unsteadyFiles: files, seconds }
}
