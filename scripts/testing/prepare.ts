import {
  installMissingPackages,
  MissingProgramError,
  type ProgramName,
  programs,
  provideProgram,
} from '@portcullis/test-servers'
import { runtime } from '../../packages/graphql-over-http/test/support/runtimes.ts'

/**
 * Installs what the tests would otherwise install themselves, before any time limit applies, so
 * that the user sees what takes so long.
 */
export async function prepare(): Promise<void> {
  const names = Object.keys(programs).filter((name): name is ProgramName => name in programs)
  await installMissingPackages(names)
  for (const name of names) {
    try {
      await provideProgram(name)
    } catch (error) {
      // The tests that need it will skip, or fail in CI, with a message.
      if (!(error instanceof MissingProgramError)) throw error
    }
  }
  try {
    runtime('node22')
  } catch {
    // npm has printed the reason; tests that need a runtime will fail, and the others are still
    // worth running.
  }
}
