import { toArgumentError, toVerbFault } from '@portcullis/service-kit/cli/argument-faults'
import type { Command } from '@portcullis/service-kit/cli/command'
import { createRedirects } from '../features/redirects/redirects.ts'
import { configHelp, readConfig, readOptions } from './read-config.ts'

const usage = `Usage: auth redirect explain URL… [--config FILE] [--config-dir DIR]

Prints for each URL whether the server would redirect to it, and why.

Options:
${configHelp}

Exit codes: 0 if all URLs are allowed, 1 otherwise, 2 for invalid arguments or
an invalid configuration.
`

export const redirect: Command = {
  summary: 'explain why a URL is or is not allowed as redirect_to',
  usage,
  async run(args, io) {
    const options = readOptions(args, io, 'auth redirect', { takesArguments: true })
    if (options === undefined) return 2
    const [verb, ...urls] = options.positionals
    if (verb !== 'explain' || urls.length === 0) {
      const fault = verb === 'explain' ? 'The URL is missing.' : toVerbFault(verb, ['explain'])
      io.stderr.write(toArgumentError('auth redirect', fault))
      return 2
    }
    const read = readConfig(io, options.values, { isForRunning: true })
    if (read === undefined) return 2
    const { url: siteUrl, uriAllowList, strictRedirects } = read.config.site
    const redirects = createRedirects({
      siteUrl,
      allowList: uriAllowList,
      isStrict: strictRedirects,
    })
    const verdicts = urls.map((url) => ({ url, ...redirects.judge(url) }))
    for (const { url, isPermitted, reason } of verdicts) {
      io.stdout.write(`${url} is ${isPermitted ? 'allowed' : 'not allowed'}: ${reason}\n`)
    }
    return verdicts.every(({ isPermitted }) => isPermitted) ? 0 : 1
  },
}
