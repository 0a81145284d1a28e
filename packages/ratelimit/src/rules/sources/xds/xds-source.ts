import { addAbortListener } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { createOverrideWarning } from '../../match/override.ts'
import type { RuleSource, RuleSourceParts } from '../source.ts'
import { type Connection, openConnection, parseServerAddress } from './connection.ts'
import { configType, converse, createSubscription, type Envelope, isOurs } from './conversation.ts'
import { openDiscoveryStream } from './discovery-stream.ts'
import { loadResponse, ResourceError } from './load-response.ts'
import { toReason } from './reason.ts'
import { createTlsOptions, type XdsTlsFiles } from './tls.ts'
import { createXdsLog } from './xds-log.ts'

export interface XdsSourceOptions extends RuleSourceParts {
  /** CONFIG_GRPC_XDS_SERVER_URL */
  readonly serverUrl: string
  readonly nodeId: string
  readonly nodeMetadata: ReadonlyMap<string, string>
  /** Sent with every call. */
  readonly headers: ReadonlyMap<string, string>
  /** The wait between attempts while the server cannot be reached at all. */
  readonly connectRetryMs: number
  /** The waits after streams that failed. */
  readonly backoff: BackoffSettings
  readonly maxMessageBytes: number
  /** Undefined: not encrypted. */
  readonly tls: XdsTlsFiles | undefined
  /** MERGE_DOMAIN_CONFIG: whether several resources may hold rules of one domain. */
  readonly mergeDomains: boolean
  readonly connectTimeoutMs?: number
  /** How often a silent server is asked for a sign of life, and how long it may take to answer. */
  readonly keepaliveIntervalMs?: number
  readonly keepaliveTimeoutMs?: number
  /** From 0 up to 1; chance, save in tests. */
  readonly random?: () => number
}

/** Servers in Go close a connection on which pings come more often than every five minutes. */
const politeIntervalMs = 5 * 60_000 + 5_000

/**
 * Takes rules from a management server (reference 8): state of the world, over the aggregated
 * discovery service. The rules in force stay so while the server is away.
 * @throws {Error} when a setting makes no sense or a certificate cannot be read.
 */
export function openXdsSource(options: XdsSourceOptions): RuleSource {
  const { serverUrl, connectRetryMs, maxMessageBytes, log, random = Math.random } = options
  const { onSnapshot, onFailure, counters, mergeDomains } = options
  const { connectTimeoutMs = 10_000, keepaliveIntervalMs = politeIntervalMs } = options
  const connecting = {
    address: parseServerAddress(serverUrl),
    tls: options.tls && createTlsOptions(options.tls, log),
    connectTimeoutMs,
    keepalive: {
      intervalMs: keepaliveIntervalMs,
      timeoutMs: options.keepaliveTimeoutMs ?? 20_000,
    },
  }
  const calling = { headers: parseHeaders(options.headers), maxMessageBytes }
  const backoff = createBackoff(options.backoff, random)
  const subscription = createSubscription({ id: options.nodeId, metadata: options.nodeMetadata })
  const onIgnoredOverride = createOverrideWarning((message) => log.warning(message))
  const told = createXdsLog(log, serverUrl)
  const closing = new AbortController()
  const { signal } = closing
  const firstAttempt = Promise.withResolvers<void>()

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const waitMs = await attempt()
      // Only closing ends a wait early.
      await wait(waitMs, undefined, { signal }).catch(() => {})
    }
  }

  /** One connection from its first to its last moment; resolves with the wait that is due then. */
  async function attempt(): Promise<number> {
    let connection: Connection
    try {
      connection = await openConnection(connecting, signal)
    } catch (error) {
      if (!signal.aborted) told.lost(`${serverUrl} cannot be reached: ${toReason(error)}`)
      return spread(connectRetryMs, options.backoff.randomFactor, random)
    }
    told.connected()
    const openedMs = performance.now()
    using _ = addAbortListener(signal, () => connection.close())
    try {
      using stream = openDiscoveryStream(connection.session, calling)
      await converse(stream, { subscription, onResponse, load })
    } catch (error) {
      if (!signal.aborted) told.lost(toReason(error))
    } finally {
      connection.close()
    }
    // A server without news says nothing, however well it is.
    if (performance.now() - openedMs > options.backoff.maxMs) backoff.reset()
    return backoff.nextMs()
  }

  function onResponse(): void {
    backoff.reset()
    told.answered()
  }

  async function load(
    response: Buffer<ArrayBuffer>,
    envelope: Envelope,
  ): Promise<string | undefined> {
    try {
      if (!isOurs(envelope)) {
        throw new Error(`the response is of type '${envelope.typeUrl}', not ${configType}`)
      }
      const settings = { mergeDomains, counters, onIgnoredOverride, signal }
      const { snapshot, warnings } = await loadResponse(response, settings)
      await told.rules(snapshot, warnings)
      signal.throwIfAborted()
      onSnapshot(snapshot)
      told.loaded()
      return undefined
    } catch (error) {
      signal.throwIfAborted()
      const message = toReason(error)
      const faults = error instanceof ResourceError ? error.faults : []
      told.refused(message, faults)
      onFailure({ message, faults })
      return message
    } finally {
      firstAttempt.resolve()
    }
  }

  const running = run()
  return {
    firstAttempt: firstAttempt.promise,
    async [Symbol.asyncDispose]() {
      closing.abort()
      await running
      firstAttempt.resolve()
    },
  }
}

/** What may stand in the metadata of a gRPC call. */
const headerName = /^[0-9a-z_.-]+$/
const headerValue = /^[\x20-\x7e]*$/

/**
 * CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS as they are sent.
 * @throws {Error} that names the header but not its value, which may be a secret.
 */
export function parseHeaders(headers: ReadonlyMap<string, string>): Record<string, string> {
  const parsed: Record<string, string> = {}
  for (const [given, value] of headers) {
    const name = given.trim().toLowerCase()
    if (!headerName.test(name)) refuse(given, 'has a name that no header can have')
    if (!headerValue.test(value)) refuse(given, 'has a value with characters that are not ASCII')
    if (isOfTheConnection.has(name)) refuse(given, 'has no place in HTTP/2')
    parsed[name] = value.trim()
  }
  return parsed
}

/** HTTP/2 has other means for what these say. */
const isOfTheConnection = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

function refuse(name: string, fault: string): never {
  throw new Error(`CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: the header "${name}" ${fault}`)
}

export interface BackoffSettings {
  readonly initialMs: number
  readonly maxMs: number
  /** How far a wait may be off by chance, as a part of it; 0: not at all. */
  readonly randomFactor: number
}

export interface Backoff {
  /** How long to wait after one more failure: each wait is twice as long (reference G20). */
  nextMs(): number
  /** The server is well: the next wait is the first one again. */
  reset(): void
}

/** A wait of nothing would keep a core busy with a server that refuses every stream. */
const shortestMs = 10
/** What a timer can wait; anything longer would fire at once. */
const longestMs = 2 ** 31 - 1

export function createBackoff(
  { initialMs, maxMs, randomFactor }: BackoffSettings,
  random: () => number,
): Backoff {
  let nextMs = initialMs
  return {
    nextMs() {
      const waitMs = nextMs
      nextMs = Math.min(maxMs, nextMs * 2)
      return spread(waitMs, randomFactor, random)
    },
    reset() {
      nextMs = initialMs
    },
  }
}

/** So that a fleet that lost its server does not come back in one moment. */
export function spread(waitMs: number, randomFactor: number, random: () => number): number {
  const factor = 1 + randomFactor * (2 * random() - 1)
  return Math.min(longestMs, Math.max(shortestMs, waitMs * factor))
}
