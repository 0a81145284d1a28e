import { relative } from 'node:path'
import { styleText } from 'node:util'
import { isLoopback, listReachable, toShownBase } from './addresses.ts'
import type { World } from './part.ts'
import { parts } from './parts/index.ts'
import { type PartName, type Ports, partNames } from './ports.ts'
import { chooseSuggestions } from './suggestions.ts'

export interface Told
  extends Pick<World, 'host' | 'publicUrl' | 'ports' | 'has' | 'secrets' | 'version' | 'folder'> {
  /** Whether things to try are worth showing: later most of them were done already. */
  readonly isFirstStart: boolean
}

type ToPlaces = (base: string, ports: Ports, world: Told) => readonly string[]

/** Where each part is: the main address first, the others below it. */
const places: Readonly<Record<PartName, ToPlaces>> = {
  console: (base, { console }, { secrets }) => [
    `${base}:${console}/?token=${secrets.consoleToken}`,
  ],
  graphql: (base, { graphql }) => [`${base}:${graphql}/graphql`],
  auth: (base, { auth }) => [`${base}:${auth}`],
  ratelimit: (base, { ratelimit, grpc, debug }) => [
    `${base}:${ratelimit}/json`,
    `gRPC ${toName(base)}:${grpc}, debug pages ${base}:${debug}`,
  ],
  mailbox: (base, { smtp, sms }) => [`SMTP ${toName(base)}:${smtp}, SMS ${base}:${sms}`],
}

/** What the terminal shows when everything runs. */
export function toReadyText(world: Told, usesColor: boolean): string {
  const { host, ports, has, folder, version, isFirstStart } = world
  const style = (format: 'bold' | 'cyan' | 'dim' | 'yellow', text: string) =>
    usesColor ? styleText(format, text, { validateStream: false }) : text
  const shown = toShownBase(world)

  const names = partNames.filter((name) => has.has(name))
  const width = Math.max(...names.map((name) => parts[name].title.length))
  const table = names.flatMap((name) =>
    places[name](shown, ports, world).map((place, index) => {
      const title = (index === 0 ? parts[name].title : '').padEnd(width)
      return `  ${style('bold', title)}  ${style(index === 0 ? 'cyan' : 'dim', place)}`
    }),
  )
  const suggestions = isFirstStart ? chooseSuggestions(has) : []
  const tries = suggestions.map(
    ({ toPurpose, toCommand }) =>
      `  ${style('dim', `# ${toPurpose(has)}`)}\n  ${toCommand(shown, ports)}\n`,
  )
  const blocks = [
    style('bold', `Portcullis ${version} is up`),
    table.join('\n'),
    ...(tries.length > 0 ? [`Try, in another terminal:\n\n${tries.join('\n').trimEnd()}`] : []),
    ...(isLoopback(host) ? [] : [style('yellow', toWarning(world))]),
    `Users, rules and logs are in ${toShortPath(folder)}. Ctrl-C stops everything.`,
  ]
  return `\n${blocks.join('\n\n')}\n\n`
}

/** Without the scheme. */
function toName(base: string): string {
  return base.replace(/^https?:\/\//, '')
}

function toWarning({ host, publicUrl, has }: Told): string {
  const consoleToo = has.has('console')
    ? ' The console, which shows every code and can delete every user, only asks for the token above.'
    : ''
  const reachable = listReachable(host)
  const places = reachable.length === 0 ? '' : ` Its addresses are ${reachable.join(', ')}.`
  const links =
    publicUrl === undefined && reachable.length > 1
      ? `\nMails lead to the first of them; --public-url names another.`
      : ''
  return `WARNING: others can reach this. Everything listens on ${host}, without TLS and with limits for
development: all who reach this machine can use it.${consoleToo}${places}${links}`
}

function toShortPath(folder: string): string {
  const path = relative(process.cwd(), folder)
  return path === '' || path.startsWith('..') ? folder : path
}
