import { toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import type { CompletableCommand } from '../completion/command-tree.ts'
import { toCommandOptions } from '../completion/option-table.ts'
import { toCallName } from '../up/call-name.ts'
import { UpRefusal } from '../up/errors.ts'
import { parseUpOptions } from '../up/options.ts'
import { upOptions, upUsage } from '../up/usage.ts'

export function createUp(version: string): CompletableCommand {
  return {
    summary: 'start everything on this machine, with a console',
    usage: upUsage,
    completion: { options: toCommandOptions(upOptions) },
    async run(args, io) {
      const parsed = parseUpOptions(args)
      if (parsed.faults !== undefined) {
        io.stderr.write(toArgumentError(toCallName(io.env), ...parsed.faults))
        return 2
      }
      const { runUp } = await import('../up/run-up.ts')
      try {
        return await runUp(parsed.options, version, io)
      } catch (error) {
        if (!(error instanceof UpRefusal)) throw error
        io.stderr.write(`${error.message}\n`)
        return 2
      }
    },
  }
}
