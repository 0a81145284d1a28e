import { randomBytes } from 'node:crypto'
import type { CommandIo } from '@portcullis/service-kit/command'
import type { CompletableCommand } from '../completion/command-tree.ts'
import { toCommandOptions, toHelpLines } from '../completion/option-table.ts'
import type { RunningConsole } from '../console/console.ts'
import type { PartHealth, PartName } from '../console/health/index.ts'
import { createChecks } from '../console/health/index.ts'
import type { ConsoleSettings } from '../console/settings.ts'
import { isLoopback, listReachable } from '../up/addresses.ts'
import { consoleOptions, parseConsoleArguments } from './console-arguments.ts'

const usage = `Usage: portcullis console [OPTION…]

Opens the console on servers that run already: ours, envoyproxy/ratelimit, Supabase Auth.

${toHelpLines(consoleOptions)}

Whoever opens the address that is printed at the start may do all that the key may do. The key itself
stays here: no browser ever sees it.

Exit code: 0 stopped by a signal, 1 it could not start, 2 wrong usage.
`

export function createConsoleCommand(version: string): CompletableCommand {
  return {
    summary: 'open the console on servers that run already',
    usage,
    completion: { options: toCommandOptions(consoleOptions) },
    async run(args, io) {
      const parsed = parseConsoleArguments(args, io.env)
      if ('faults' in parsed) {
        const lines = parsed.faults.map((fault) => `  ${fault}\n`).join('')
        io.stderr.write(`${lines}\nportcullis console --help tells more.\n`)
        return 2
      }
      // Before anything else: from now on a signal shall end it in order.
      const stopped = new Promise<void>((stop) => {
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
          process.once(signal, () => stop())
        }
      })
      const settings = { ...parsed, version, token: randomBytes(24).toString('base64url') }
      const opened = await open(settings, io)
      if (opened === undefined) return 1
      await using running = opened
      const isStopped = await Promise.race([tellTargets(settings, io), stopped.then(() => true)])
      if (isStopped !== true) {
        const warning = toWarning(settings.host, running.entryUrl)
        io.stdout.write(`\nConsole    ${running.entryUrl}\n${warning}\nCtrl-C ends it.\n`)
      }
      await stopped
      return 0
    },
  }
}

/** Empty where only this machine can reach it. */
function toWarning(host: string, entryUrl: string): string {
  if (host === 'localhost' || isLoopback(host)) return ''
  const others = listReachable(host).map((name) => {
    const url = new URL(entryUrl)
    url.host = `${name}:${url.port}`
    return url.href
  })
  const places = others.filter((url) => url !== entryUrl).map((url) => `           ${url}\n`)
  return `${places.join('')}
WARNING: others can reach this. It listens on ${host}, without TLS, and only asks for the token above.
`
}

async function open(settings: ConsoleSettings, io: CommandIo): Promise<RunningConsole | undefined> {
  const { host, port } = settings
  // The help text does without the server.
  const { openConsole } = await import('../console/console.ts')
  try {
    return await openConsole(settings)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const explain = explanations[String(code)]
    if (explain === undefined) throw error
    io.stderr.write(`${explain(host, port)}\n`)
    return undefined
  }
}

const explanations: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (_host, port) =>
    `Port ${port} is in use: stop who has it, or choose another with --port.`,
  EACCES: (_host, port) =>
    `The system does not let us listen on port ${port}: choose a higher one with --port.`,
  EADDRNOTAVAIL: (host) => `${host} is no address of this machine: choose another with --host.`,
  ENOTFOUND: (host) => `${host} is no address of this machine: choose another with --host.`,
}

/** A line for each: whether it is there, and whether it takes our key. What is not may come later. */
async function tellTargets(settings: ConsoleSettings, io: CommandIo): Promise<void> {
  const { auth, ratelimit, graphql } = settings
  const checks = createChecks(settings)
  const targets: readonly (readonly [PartName, string | undefined])[] = [
    ['auth', auth?.url],
    ['ratelimit', ratelimit?.debugUrl],
    ['graphql', graphql?.url],
  ]
  const answers = targets.map(async ([part, url]) => ({
    part,
    url,
    health: await checks[part]?.(),
  }))
  for (const answer of answers) {
    const { part, url, health } = await answer
    if (health && url) io.stdout.write(`${part.padEnd(9)}  ${url}  ${toWords(health)}\n`)
  }
}

const states: Readonly<Record<PartHealth['state'], string>> = {
  up: 'is up',
  troubled: 'is up, but not well',
  down: 'does not answer yet',
}

function toWords({ state, product, version, users, detail }: PartHealth): string {
  const name = [product, version].filter(Boolean).join(' ')
  const facts = [
    states[state],
    name,
    users === undefined ? '' : `key accepted, ${users} ${users === 1 ? 'user' : 'users'}`,
  ]
  const text = facts.filter(Boolean).join(', ')
  return detail === undefined ? text : `${text}: ${detail}`
}
