import { pathToFileURL } from 'node:url'
import type { CommandNode, CompletableCommand } from '../completion/command-tree.ts'
import { findProgram } from '../find-program.ts'
import { createPortcullisCall } from '../up/call-name.ts'
import { findSecrets, toAuditHeaders } from '../up/secrets.ts'

/** A program of another package that is also a command of portcullis. */
interface OtherProgram {
  readonly packageName: string
  readonly summary: string
  /** Loads its commands for shell completion. */
  readonly loadTree: () => Promise<CommandNode>
  /** Adjusts its arguments. */
  readonly prepare?: (args: readonly string[]) => readonly string[]
}

export const otherPrograms: Readonly<Record<string, OtherProgram>> = {
  auth: {
    packageName: '@portcullis/auth',
    summary: 'the auth server: serve, migrate, backup, import, admin and more',
    loadTree: async () => (await import('../completion/programs/auth.ts')).authTree,
  },
  ratelimit: {
    packageName: '@portcullis/ratelimit',
    summary: 'the rate limit service: serve, check, explain, test and more',
    loadTree: async () => (await import('../completion/programs/ratelimit.ts')).ratelimitTree,
  },
  graphql: {
    packageName: '@portcullis/graphql-over-http',
    summary: 'audit URL: test a server for compliance with GraphQL over HTTP',
    loadTree: async () => (await import('../completion/programs/graphql.ts')).graphqlTree,
    prepare: withAuditHeaders,
  },
}

export interface HandOver {
  /** The name of the portcullis command. */
  readonly name: string
  readonly packageName: string
  readonly args: readonly string[]
}

/** Finds the program that the arguments are for. `help` is passed on as `--help`. */
export function findHandOver(args: readonly string[]): HandOver | undefined {
  const wantsHelp = args[0] === 'help'
  const [name = '', ...rest] = wantsHelp ? args.slice(1) : args
  const program = Object.hasOwn(otherPrograms, name) ? otherPrograms[name] : undefined
  if (program === undefined) return undefined
  const { packageName, prepare = (given) => given } = program
  return { name, packageName, args: wantsHelp ? [...rest, '--help'] : prepare(rest) }
}

/** Runs the program in this process; the program ends the process itself. */
export async function handOver({ name, packageName, args }: HandOver): Promise<void> {
  const program = findProgram(packageName)
  // The program's help shows the first argument as its name, because its file path does not mention portcullis.
  const call = createPortcullisCall(process.env)(name)
  process.argv.splice(0, process.argv.length, call, program, ...args)
  await import(pathToFileURL(program).href)
}

/** Creates the entry for the list of commands. */
export async function createHandOver(name: string): Promise<CompletableCommand> {
  const program = otherPrograms[name]
  if (program === undefined) throw new Error(`Unknown program ${name}`)
  const { packageName, summary, loadTree } = program
  return {
    summary,
    usage: `Usage: portcullis ${name} COMMAND [ARGUMENT…]`,
    completion: await loadTree(),
    async run(args) {
      await handOver({ name, packageName, args })
      return new Promise(() => {})
    },
  }
}

const loopback = /^https?:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?\//

/**
 * Adds the header that exempts audits from the limits of the local API, since an audit sends more requests at
 * once than the limits allow. The header is sent only to this machine, and is valid only for the API whose
 * `portcullis up` stored its secrets in this folder.
 */
function withAuditHeaders(args: readonly string[], folder = '.portcullis'): readonly string[] {
  if (args[0] !== 'audit' || !args.some((arg) => loopback.test(arg))) return args
  const secrets = findSecrets(folder)
  if (secrets === undefined) return args
  const headers = Object.entries(toAuditHeaders(secrets))
  return [...args, ...headers.flatMap(([name, value]) => ['--header', `${name}: ${value}`])]
}
