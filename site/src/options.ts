import { parseArgs } from 'node:util'
import {
  toArgumentFault,
  toValueFault,
  toVerbFault,
} from '@portcullis/service-kit/cli/argument-faults'

const verbs = ['serve', 'build'] as const
type Verb = (typeof verbs)[number]

export interface Options {
  readonly verb: Verb
  readonly port: number
  /** Where `build` writes the site; undefined for the default. */
  readonly out: string | undefined
  readonly base: string
}

export const help = `Usage: npm run docs -- [VERB] [OPTION…]

Shows the pages of docs/ as a site with navigation and search. The first start
installs the generator of the site into site/node_modules.

  serve  serves the site on this machine, and reloads it when a page changes;
         this is what happens without a verb
  build  checks every link and writes the site as static files

Options:
  --port PORT  where to serve; default: 5173
  --out DIR    where build writes; default: site/dist
  --base PATH  path of the site on its server, such as /docs/; default: /
  --help       show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

/** Returns the options, 'help', or the faults of the arguments. */
export function parseOptions(args: readonly string[]): Options | 'help' | { fault: string } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        port: { type: 'string', default: '5173' },
        out: { type: 'string' },
        base: { type: 'string', default: '/' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) return 'help'
    const [name = 'serve', unexpected] = positionals
    const verb = verbs.find((known) => known === name)
    if (verb === undefined) return { fault: toVerbFault(name, verbs) }
    if (unexpected !== undefined)
      return { fault: `Unexpected argument ${JSON.stringify(unexpected)}.` }
    const port = Number(values.port)
    if (!/^\d+$/.test(values.port) || port > 65_535) {
      return { fault: toValueFault('--port', 'a port from 0 to 65535', values.port) }
    }
    if (!/^\/(?:[\w.-]+\/)*$/.test(values.base)) {
      return { fault: toValueFault('--base', 'a path that begins and ends with /', values.base) }
    }
    return { verb, port, out: values.out, base: values.base }
  } catch (error) {
    return { fault: toArgumentFault(error) }
  }
}
