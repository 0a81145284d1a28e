import { randomBytes } from 'node:crypto'
import { toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import type { CommandIo } from '@portcullis/service-kit/cli/command'
import { toCode } from '@portcullis/service-kit/text/reason'
import type { CompletableCommand } from '../completion/command-tree.ts'
import { toCommandOptions, toHelpLines } from '../completion/option-table.ts'
import type { RunningConsole } from '../console/console.ts'
import { createChecks, type PartHealth, type PartName } from '../console/health/index.ts'
import type { ConsoleSettings } from '../console/settings.ts'
import { isLoopback, listReachable } from '../up/addresses.ts'
import { consoleOptions, parseConsoleArguments } from './console-arguments.ts'

const usage = `Usage: portcullis console [OPTION…]

Opens the console for servers that are already running: those of Portcullis,
envoyproxy/ratelimit and Supabase Auth.

Options:
${toHelpLines(consoleOptions)}

Anyone who opens the printed address can do everything that the service key
allows. The key itself is never sent to a browser.

Environment variables:
  PORTCULLIS_AUTH_KEY     the service key of the auth server
  PORTCULLIS_DEBUG_TOKEN  DEBUG_TOKEN of the rate limit service, needed to show
                          its keys and settings if it runs on another machine

Exit codes: 0 after a shutdown by a signal, 1 on failure, 2 for invalid
arguments.
`

export function createConsoleCommand(version: string): CompletableCommand {
  return {
    summary: 'open the console for servers that are already running',
    usage,
    completion: { options: toCommandOptions(consoleOptions) },
    async run(args, io) {
      const parsed = parseConsoleArguments(args, io.env)
      if ('faults' in parsed) {
        io.stderr.write(toArgumentError('portcullis console', ...parsed.faults))
        return 2
      }
      // Installed first, so that a signal during the start also shuts down cleanly.
      const stopped = new Promise<'stopped'>((stop) => {
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
          process.once(signal, () => stop('stopped'))
      })
      const settings = { ...parsed, version, token: randomBytes(24).toString('base64url') }
      const opened = await Promise.race([open(settings, io), stopped])
      if (opened === 'stopped') return 0
      if (opened === undefined) return 1
      await using running = opened
      const first = await Promise.race([printTargets(settings, io), stopped])
      if (first !== 'stopped') {
        const warning = toWarning(settings.host, running.entryUrl)
        io.stdout.write(`\nConsole    ${running.entryUrl}\n${warning}\nPress Ctrl-C to stop.\n`)
      }
      await stopped
      return 0
    },
  }
}

/** @returns an empty string if only this machine can reach the console. */
function toWarning(host: string, entryUrl: string): string {
  if (host === 'localhost' || isLoopback(host)) return ''
  const others = listReachable(host).map((name) => {
    const url = new URL(entryUrl)
    url.host = `${name}:${url.port}`
    return url.href
  })
  const places = others.filter((url) => url !== entryUrl).map((url) => `           ${url}\n`)
  return `${places.join('')}
WARNING: other machines can reach the console. It listens on ${host} without TLS,
protected only by the token above.
`
}

async function open(settings: ConsoleSettings, io: CommandIo): Promise<RunningConsole | undefined> {
  const { host, port } = settings
  // Imported here so that `--help` does not load the server.
  const { openConsole } = await import('../console/console.ts')
  try {
    return await openConsole(settings)
  } catch (error) {
    const explain = explanations[toCode(error)]
    if (explain === undefined) throw error
    io.stderr.write(`${explain(host, port)}\n`)
    return undefined
  }
}

const explanations: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (_host, port) =>
    `Port ${port} is in use. Stop the process that uses it, or choose another port with --port.`,
  EACCES: (_host, port) =>
    `Permission denied for port ${port}. Choose a port above 1023 with --port.`,
  EADDRNOTAVAIL: (host) => `${host} is not an address of this machine. Choose another with --host.`,
  ENOTFOUND: (host) => `${host} is not an address of this machine. Choose another with --host.`,
}

/** Prints one line per server: its state, and whether it accepts the key. A server may also start later. */
async function printTargets(settings: ConsoleSettings, io: CommandIo): Promise<void> {
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
    if (health && url) io.stdout.write(`${part.padEnd(9)}  ${url}  ${describeHealth(health)}\n`)
  }
}

const states: Readonly<Record<PartHealth['state'], string>> = {
  up: 'is up',
  degraded: 'is up, but degraded',
  down: 'does not respond yet',
}

function describeHealth({ state, product, version, users, detail }: PartHealth): string {
  const name = [product, version].filter(Boolean).join(' ')
  const facts = [
    states[state],
    name,
    users === undefined ? '' : `key accepted, ${users} ${users === 1 ? 'user' : 'users'}`,
  ]
  const text = facts.filter(Boolean).join(', ')
  return detail === undefined ? text : `${text}: ${detail}`
}
