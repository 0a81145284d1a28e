import type { ServerResponse } from 'node:http'
import type { Log } from '@portcullis/service-kit/log'
import type { DebugEndpoint } from './debug/endpoint.ts'
import { createProfileEndpoints } from './debug/pprof.ts'
import { processGauges } from './debug/process-gauges.ts'
import { type Listing, streamLines } from './debug/stream-lines.ts'
import { type HttpListener, openHttpListener, sendText, toAddress } from './http-listener.ts'

export interface DebugSettings {
  readonly host: string
  readonly port: number
  /** The lines of `/rlconfig`, without their ends. */
  readonly ruleLines: () => Listing<string>['items']
  /** The statistics in the order they are printed in. */
  readonly statistics: () => Listing<Statistic>['items']
  readonly log: Log
}

type Statistic = readonly [name: string, value: number]

/**
 * Opens the debug listener. Where its port is taken the error is logged and the service goes on
 * without it: undefined.
 */
export async function openDebugListener(
  settings: DebugSettings,
): Promise<HttpListener | undefined> {
  const { host, port, log } = settings
  const endpoints = createEndpoints(settings)
  const listing = endpoints.map(({ path, help }) => `${path}: ${help}\n`).join('')
  try {
    const listener = await openHttpListener({
      host,
      port,
      routes: Object.fromEntries(endpoints.map(({ path, handle }) => [path, handle])),
      otherwise: (_request, response) => sendText(response, 200, listing),
    })
    log.warning(`Listening for debug on '${listener.address}'`)
    return listener
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    log.error(`Cannot listen for debug on '${toAddress(host, port)}', going on without: ${reason}`)
    return undefined
  }
}

function createEndpoints({ ruleLines, statistics, log }: DebugSettings): DebugEndpoint[] {
  const stream = <Item>(response: ServerResponse, listing: Listing<Item>) => {
    streamLines(response, listing).catch((error: unknown) => {
      log.error(`The debug listener could not finish an answer: ${String(error)}`)
      response.destroy()
    })
  }
  const endpoints: DebugEndpoint[] = [
    ...createProfileEndpoints(log),
    {
      path: '/rlconfig',
      help: 'print out the currently loaded configuration for debugging',
      handle: (_request, response) => stream(response, { items: ruleLines(), toLine: String }),
    },
    {
      path: '/stats',
      help: 'print out stats',
      handle: (_request, response) => {
        const last = processGauges().map((gauge) => `${toLine(gauge)}\n`)
        stream(response, { items: statistics(), toLine, last: last.join('') })
      },
    },
  ]
  return endpoints.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function toLine([name, value]: Statistic): string {
  return `${name}: ${value}`
}
