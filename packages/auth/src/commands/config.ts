import type { Command } from '@portcullis/service-kit/command'
import { configHelp, readConfig, readOptions } from './read-config.ts'

const usage = `Usage: auth config check [--config FILE] [--config-dir FOLDER]

Says everything that is wrong or doubtful with the configuration, and starts nothing.

Options:
${configHelp}

Exit code: 0 when the server would start with it, 2 otherwise.
`

export const config: Command = {
  summary: 'check the configuration',
  usage,
  async run(args, io) {
    const options = readOptions(args, io, usage, { takesWords: true })
    if (options === undefined) return 2
    if (options.positionals.join(' ') !== 'check') {
      io.stderr.write(usage)
      return 2
    }
    const read = readConfig(io, options.values)
    if (read === undefined) return 2
    for (const note of read.notes) io.stdout.write(`warning: ${note}\n`)
    for (const remark of read.remarks) io.stdout.write(`note: ${remark}\n`)
    io.stdout.write('The configuration is fine.\n')
    return 0
  },
}
