import type { Command } from '@portcullis/service-kit/command'
import { findMachineFaults } from './machine-faults.ts'
import { configHelp, readConfig, readOptions, toRefusal } from './read-config.ts'

const usage = `Usage: auth config check [--config FILE] [--config-dir FOLDER]

Says everything that is wrong or doubtful with the configuration, and starts nothing. It also tries
whether this machine has the address to listen on and the folder of the log file.

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
    const faults = await findMachineFaults(read.config)
    if (faults.length > 0) {
      io.stderr.write(toRefusal(faults))
      return 2
    }
    io.stdout.write('The configuration is fine.\n')
    return 0
  },
}
