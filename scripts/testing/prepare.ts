import {
  MissingProgramError,
  type ProgramName,
  programs,
  provideProgram,
} from '@portcullis/test-servers'
import { runtime } from '../../packages/graphql-over-http/test/support/runtimes.ts'

/**
 * Installs what the tests would install themselves, while there is no time limit and somebody
 * sees what takes so long.
 */
export async function prepare(): Promise<void> {
  const names = Object.keys(programs).filter((name): name is ProgramName => name in programs)
  for (const name of names) {
    try {
      await provideProgram(name)
    } catch (error) {
      // The tests that need it will skip, or fail in CI, and say so.
      if (!(error instanceof MissingProgramError)) throw error
    }
  }
  try {
    runtime('node22')
  } catch {
    // npm said why; what needs a runtime will fail, and the rest is still worth running.
  }
}
