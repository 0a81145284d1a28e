import { relative } from 'node:path'
import { styleText } from 'node:util'
import { isLoopback, toShownHost } from './addresses.ts'
import type { World } from './part.ts'
import { parts } from './parts/index.ts'
import { type PartName, type Ports, partNames } from './ports.ts'
import { chooseSuggestions } from './suggestions.ts'

export type Told = Pick<World, 'host' | 'ports' | 'has' | 'secrets' | 'version' | 'folder'>

type ToPlaces = (host: string, ports: Ports, world: Told) => readonly string[]

/** Where each part is: the main address first, the others below it. */
const places: Readonly<Record<PartName, ToPlaces>> = {
  console: (host, { console }, { secrets }) => [
    `http://${host}:${console}/?token=${secrets.consoleToken}`,
  ],
  graphql: (host, { graphql }) => [`http://${host}:${graphql}/graphql`],
  auth: (host, { auth }) => [`http://${host}:${auth}`],
  ratelimit: (host, { ratelimit, grpc, debug }) => [
    `http://${host}:${ratelimit}/json`,
    `gRPC ${host}:${grpc}, debug pages http://${host}:${debug}`,
  ],
  mailbox: (host, { smtp, sms }) => [`SMTP ${host}:${smtp}, SMS http://${host}:${sms}`],
}

/** What the terminal shows when everything runs. */
export function toReadyText(world: Told, usesColor: boolean): string {
  const { host, ports, has, folder, version } = world
  const style = (format: 'bold' | 'cyan' | 'dim' | 'yellow', text: string) =>
    usesColor ? styleText(format, text, { validateStream: false }) : text
  const shown = toShownHost(host)

  const names = partNames.filter((name) => has.has(name))
  const width = Math.max(...names.map((name) => parts[name].title.length))
  const table = names.flatMap((name) =>
    places[name](shown, ports, world).map((place, index) => {
      const title = (index === 0 ? parts[name].title : '').padEnd(width)
      return `  ${style('bold', title)}  ${style(index === 0 ? 'cyan' : 'dim', place)}`
    }),
  )
  const tries = chooseSuggestions(has).map(
    ({ toPurpose, toCommand }) =>
      `  ${style('dim', `# ${toPurpose(has)}`)}\n  ${toCommand(shown, ports)}\n`,
  )
  const blocks = [
    style('bold', `Portcullis ${version} is up`),
    table.join('\n'),
    ...(tries.length > 0 ? [`Try, in another terminal:\n\n${tries.join('\n').trimEnd()}`] : []),
    ...(isLoopback(host) ? [] : [style('yellow', toWarning(host, has))]),
    `Users, rules and logs are in ${toShortPath(folder)}. Ctrl-C stops everything.`,
  ]
  return `\n${blocks.join('\n\n')}\n\n`
}

function toWarning(host: string, has: ReadonlySet<PartName>): string {
  const consoleToo = has.has('console')
    ? ' The console, which shows every code and can delete every user, only asks for the token above.'
    : ''
  return `WARNING: everything listens on ${host}, without TLS and with limits for development.
Whoever can reach this machine can use it.${consoleToo}`
}

function toShortPath(folder: string): string {
  const path = relative(process.cwd(), folder)
  return path === '' || path.startsWith('..') ? folder : path
}
