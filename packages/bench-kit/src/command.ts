import { toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import { UsageError } from './options.ts'

export interface Command<Settings extends { readonly isHelpWanted: boolean }> {
  /** The name after `npm run bench --`. */
  readonly name: string
  readonly help: string
  /** @throws {UsageError} */
  parse(args: readonly string[]): Settings
  /** Resolves to the exit code. */
  run(settings: Settings): Promise<number>
}

/** Turns command-line arguments into an exit code. */
export function createCommand<Settings extends { readonly isHelpWanted: boolean }>(
  command: Command<Settings>,
): (args: readonly string[]) => Promise<number> {
  return async (args) => {
    let settings: Settings
    try {
      settings = command.parse(args)
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      const output = toArgumentError(`npm run bench -- ${command.name}`, error.message)
      console.error(output.trimEnd())
      return 2
    }
    if (!settings.isHelpWanted) return await command.run(settings)
    console.log(command.help)
    return 0
  }
}
