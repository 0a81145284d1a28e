import type { ServerResponse } from 'node:http'
import type { Log } from '@portcullis/service-kit/log/log'
import { type Tag, toTaggedName } from '@portcullis/service-kit/metrics/tags'
import type { EffectiveSetting } from '@portcullis/service-kit/settings/effective-settings'
import { toAddress } from '@portcullis/service-kit/text/address'
import { toReason } from '@portcullis/service-kit/text/reason'
import {
  createHttpService,
  type HttpListener,
  type HttpService,
  type HttpServiceSettings,
  openHttpListener,
  sendJson,
  sendText,
} from '../http-listener.ts'
import { guardPage, isLoopbackHost } from './access.ts'
import type { DebugEndpoint } from './endpoint.ts'
import type { KeyAccess } from './key-access.ts'
import { createKeyEndpoints } from './key-pages.ts'
import { createProfileEndpoints } from './pprof.ts'
import { processGauges } from './process-gauges.ts'
import { type Listing, streamLines } from './stream-lines.ts'

/** The content of the pages. */
export interface DebugContents {
  /** The lines of `/rlconfig`, without line breaks. */
  readonly ruleLines: () => Listing<string>['items']
  /** The lines of `/decisions`; undefined if no decisions are recorded. */
  readonly decisionLines?: (() => Listing<string>['items']) | undefined
  readonly statistics: { lines(extraTags: readonly Tag[]): Listing<Statistic>['items'] }
  /** Tags that are added to the names of all statistics. */
  readonly extraTags?: readonly Tag[]
  /** The settings of the service, for operators. Without them, there is no page `/settings`. */
  readonly settings?: readonly EffectiveSetting[]
  /** Default: the gauges of this process. */
  readonly processGauges?: () => readonly Statistic[]
  /** Access to keys and counters. Without it, there are no pages about them. */
  readonly keys?: KeyAccess
  readonly log: Log
}

export interface DebugSettings extends DebugContents {
  readonly host: string
  readonly port: number
  /** DEBUG_TOKEN, which gives other machines access to all pages. */
  readonly token?: string | undefined
}

export interface DebugPagesSettings extends Pick<DebugSettings, 'host' | 'port' | 'token'> {
  readonly endpoints: readonly DebugEndpoint[]
  readonly log: Log
}

export const decisionsPath = '/decisions'

type Statistic = readonly [name: string, value: number]

/**
 * Opens the debug listener. If its port is in use, the error is logged, the service continues without the
 * listener, and the result is undefined.
 */
export async function openDebugListener(
  settings: DebugSettings,
): Promise<HttpListener | undefined> {
  return await openDebugPages({ ...settings, endpoints: createDebugEndpoints(settings) })
}

export async function openDebugPages({
  host,
  port,
  token,
  endpoints,
  log,
}: DebugPagesSettings): Promise<HttpListener | undefined> {
  // In a worker, requests come from the primary, which has already checked them.
  const guarded = endpoints.map((endpoint) => {
    const { isGuarded = false, handle } = endpoint
    return isGuarded ? { ...endpoint, handle: guardPage(handle, token) } : endpoint
  })
  try {
    const listener = await openHttpListener({ host, port, ...toRoutes(guarded) })
    log.warning(`Listening for debug on '${listener.address}'`)
    if (token === undefined && !isLoopbackHost(host)) log.warning(openToOthers)
    return listener
  } catch (error) {
    const reason = toReason(error)
    log.error(
      `Cannot listen for debug on '${toAddress(host, port)}', continuing without it: ${reason}`,
    )
    return undefined
  }
}

const openToOthers =
  'The debug listener can be reached from other machines, which can read the rules and statistics. ' +
  'Set DEBUG_HOST=127.0.0.1, or make sure that its port is not public; set DEBUG_TOKEN to disable this warning'

/** Creates the service without a port, for requests that another process has accepted. */
export function createDebugService(contents: DebugContents): HttpService {
  return createHttpService(toRoutes(createDebugEndpoints(contents)))
}

function toRoutes(endpoints: readonly DebugEndpoint[]): HttpServiceSettings {
  const listing = endpoints.map(({ path, help }) => `${path}: ${help}\n`).join('')
  return {
    routes: Object.fromEntries(endpoints.map(({ path, handle }) => [path, handle])),
    otherwise: (_request, response) => sendText(response, 200, listing),
  }
}

/** Sorted by path. */
export function createDebugEndpoints({
  ruleLines,
  decisionLines,
  statistics,
  extraTags = [],
  settings,
  processGauges: toGauges = processGauges,
  keys,
  log,
}: DebugContents): DebugEndpoint[] {
  const stream = <Item>(response: ServerResponse, listing: Listing<Item>) => {
    streamLines(response, listing).catch((error: unknown) => {
      log.error(`The debug listener could not complete a response: ${String(error)}`)
      response.destroy()
    })
  }
  const endpoints: DebugEndpoint[] = [
    ...createProfileEndpoints(log),
    ...(keys === undefined ? [] : createKeyEndpoints(keys, log)),
    {
      path: '/rlconfig',
      help: 'print out the currently loaded configuration for debugging',
      handle: (_request, response) => stream(response, { items: ruleLines(), toLine: String }),
    },
    ...(settings === undefined ? [] : [createSettingsPage(settings)]),
    {
      path: '/stats',
      help: 'print out stats',
      handle: (_request, response) => {
        // Added last, because the values of other processes have arrived by then.
        const last = () =>
          toGauges()
            .map(([name, value]) => `${toLine([toTaggedName(name, extraTags), value])}\n`)
            .join('')
        stream(response, { items: statistics.lines(extraTags), toLine, last })
      },
    },
  ]
  if (decisionLines !== undefined) {
    endpoints.push({
      path: decisionsPath,
      help: 'print out the latest requests and their decisions as JSON lines',
      // Requests contain values such as user ids and addresses.
      isGuarded: true,
      handle: (_request, response) => stream(response, { items: decisionLines(), toLine: String }),
    })
  }
  return endpoints.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function createSettingsPage(settings: readonly EffectiveSetting[]): DebugEndpoint {
  return {
    path: '/settings',
    help: 'print out all settings and their sources as JSON, without secrets',
    isGuarded: true,
    handle: (_request, response) => sendJson(response, { settings }),
  }
}

function toLine([name, value]: Statistic): string {
  return `${name}: ${value}`
}
