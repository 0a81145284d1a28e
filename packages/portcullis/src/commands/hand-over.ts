import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { CommandNode, CompletableCommand } from '../completion/command-tree.ts'
import { findProgram } from '../find-program.ts'
import { createPortcullisCall } from '../up/call-name.ts'
import { readPrivateFile } from '../up/private-files.ts'
import { parseSecrets, secretsFile, toAuditHeaders } from '../up/secrets.ts'

/** A program of another package that is also one of our commands. */
interface OtherProgram {
  readonly packageName: string
  readonly summary: string
  /** Its commands, for shells. */
  readonly loadTree: () => Promise<CommandNode>
  /** What its arguments become. */
  readonly prepare?: (args: readonly string[]) => readonly string[]
}

export const otherPrograms: Readonly<Record<string, OtherProgram>> = {
  auth: {
    packageName: '@portcullis/auth',
    summary: 'the auth server: up, serve, migrate, backup, restore, keys, admin, config, redirect',
    loadTree: async () => (await import('../completion/programs/auth.ts')).authTree,
  },
  ratelimit: {
    packageName: '@portcullis/ratelimit',
    summary: 'the rate limit service: serve, client, check, explain, test, replay',
    loadTree: async () => (await import('../completion/programs/ratelimit.ts')).ratelimitTree,
  },
  graphql: {
    packageName: '@portcullis/graphql-over-http',
    summary: 'audit URL: does a server keep to GraphQL over HTTP?',
    loadTree: async () => (await import('../completion/programs/graphql.ts')).graphqlTree,
    prepare: withOwnApiPass,
  },
}

export interface HandOver {
  /** Our name for it. */
  readonly name: string
  readonly packageName: string
  readonly args: readonly string[]
}

/**
 * Which program the arguments are meant for, and what it is to be told. Help is among it: nobody
 * knows a program better than itself.
 */
export function findHandOver(args: readonly string[]): HandOver | undefined {
  const asksForHelp = args[0] === 'help'
  const [name = '', ...rest] = asksForHelp ? args.slice(1) : args
  const program = Object.hasOwn(otherPrograms, name) ? otherPrograms[name] : undefined
  if (program === undefined) return undefined
  const { packageName, prepare = (given) => given } = program
  return { name, packageName, args: asksForHelp ? [...rest, '--help'] : prepare(rest) }
}

/** Becomes that program: it ends this process by itself. */
export async function handOver({ name, packageName, args }: HandOver): Promise<void> {
  const program = findProgram(packageName)
  // Its help shows the first argument as its name, because the path of its file does not name us.
  const call = createPortcullisCall(process.env)(name)
  process.argv.splice(0, process.argv.length, call, program, ...args)
  await import(pathToFileURL(program).href)
}

/** For the list of commands. */
export async function createHandOver(name: string): Promise<CompletableCommand> {
  const program = otherPrograms[name]
  if (program === undefined) throw new Error(`There is no program ${name}`)
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
 * The arguments of an audit, with the header that exempts it from the limits of our own API: dozens of
 * requests at once are more than those let pass. The header is of no use to anybody else, and is sent to this
 * machine only, where `portcullis up` has left its secrets in this folder.
 */
export function withOwnApiPass(args: readonly string[], folder = '.portcullis'): readonly string[] {
  if (args[0] !== 'audit' || !args.some((arg) => loopback.test(arg))) return args
  const secrets = readSecrets(folder)
  if (secrets === undefined) return args
  const headers = Object.entries(toAuditHeaders(secrets))
  return [...args, ...headers.flatMap(([name, value]) => ['--header', `${name}: ${value}`])]
}

function readSecrets(folder: string) {
  try {
    return parseSecrets(readPrivateFile(join(folder, secretsFile)) ?? '')
  } catch {
    // No `portcullis up` was started here.
    return undefined
  }
}
