import { relative } from 'node:path'
import { styleText } from 'node:util'
import { isLoopback, listReachable, toShownBase } from './addresses.ts'
import type { UpContext } from './part.ts'
import { parts } from './parts/index.ts'
import { type PartName, type Ports, partNames } from './ports.ts'

export interface ReadyInfo
  extends Pick<
    UpContext,
    'host' | 'publicUrl' | 'ports' | 'has' | 'secrets' | 'version' | 'folder'
  > {
  /** Examples are printed only at the first start. */
  readonly isFirstStart: boolean
}

type ToPlaces = (base: string, ports: Ports, context: ReadyInfo) => readonly string[]

/** The addresses of each part, the main one first. */
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

/** Returns the text that is printed when everything is running. */
export function toReadyText(context: ReadyInfo, usesColor: boolean): string {
  const { host, ports, has, folder, version, isFirstStart } = context
  const style = (format: 'bold' | 'cyan' | 'dim' | 'yellow', text: string) =>
    usesColor ? styleText(format, text, { validateStream: false }) : text
  const shown = toShownBase(context)

  const names = partNames.filter((name) => has.has(name))
  const width = Math.max(...names.map((name) => parts[name].title.length))
  const table = names.flatMap((name) =>
    places[name](shown, ports, context).map((place, index) => {
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
    ...(tries.length > 0 ? [`Try this in another terminal:\n\n${tries.join('\n').trimEnd()}`] : []),
    ...(isLoopback(host) ? [] : [style('yellow', toWarning(context))]),
    `Users, rules and logs are in ${toShortPath(folder)}. Press Ctrl-C to stop.`,
  ]
  return `\n${blocks.join('\n\n')}\n\n`
}

/** Removes the scheme. */
function toName(base: string): string {
  return base.replace(/^https?:\/\//, '')
}

function toWarning({ host, publicUrl, has }: ReadyInfo): string {
  const consoleToo = has.has('console')
    ? ' The console, which shows every one-time code and can delete every user, is protected only by the token above.'
    : ''
  const reachable = listReachable(host)
  const places =
    reachable.length === 0 ? '' : ` Addresses of this machine: ${reachable.join(', ')}.`
  const links =
    publicUrl === undefined && reachable.length > 1
      ? `\nLinks in emails use the first address; choose another with --public-url.`
      : ''
  return `WARNING: other machines can reach these servers. Everything listens on ${host}, without TLS and with
  development limits.${consoleToo}${places}${links}`
}

function toShortPath(folder: string): string {
  const path = relative(process.cwd(), folder)
  return path === '' || path.startsWith('..') ? folder : path
}

interface Suggestion {
  readonly part: PartName
  readonly toPurpose: (has: ReadonlySet<PartName>) => string
  readonly toCommand: (base: string, ports: Ports) => string
}

const account = '{"email":"me@example.com","password":"correct horse battery"}'
const entry = '{"key":"remote_address","value":"10.0.0.66"}'
const json = `-H 'content-type: application/json'`

/** Commands to try, the most useful first. They work without changes. */
const allSuggestions: readonly Suggestion[] = [
  {
    part: 'graphql',
    toPurpose: (has) =>
      `Query the GraphQL API${has.has('ratelimit') ? '; the eleventh request within a minute is refused' : ''}`,
    toCommand: (base, { graphql }) =>
      `curl ${json} -d '{"query":"{ hello }"}' ${base}:${graphql}/graphql`,
  },
  {
    part: 'auth',
    toPurpose: (has) =>
      `Sign up${has.has('mailbox') && has.has('console') ? '; the console shows the confirmation mail' : ''}`,
    toCommand: (base, { auth }) => `curl ${json} -d '${account}' ${base}:${auth}/signup`,
  },
  {
    part: 'ratelimit',
    toPurpose: () => 'Check whether a request is within its limit',
    toCommand: (base, { ratelimit }) =>
      `curl -d '{"domain":"api","descriptors":[{"entries":[${entry}]}]}' ${base}:${ratelimit}/json`,
  },
  {
    part: 'ratelimit',
    toPurpose: () => 'List the loaded rules',
    toCommand: (base, { debug }) => `curl ${base}:${debug}/rlconfig`,
  },
  {
    part: 'auth',
    toPurpose: () => 'List the enabled sign-in methods',
    toCommand: (base, { auth }) => `curl ${base}:${auth}/settings`,
  },
  {
    part: 'graphql',
    toPurpose: () => 'Query some sample data',
    toCommand: (base, { graphql }) =>
      `curl ${json} -d '{"query":"{ castles(country: \\"Wales\\") { name built } }"}' ${base}:${graphql}/graphql`,
  },
]

const mostSuggestions = 3

function chooseSuggestions(has: ReadonlySet<PartName>): readonly Suggestion[] {
  return allSuggestions.filter(({ part }) => has.has(part)).slice(0, mostSuggestions)
}
