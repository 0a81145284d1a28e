import { addAbortListener } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { toReason } from '@portcullis/service-kit/text/reason'
import { createOverrideWarning } from '../../match/override.ts'
import type { RuleSource, RuleSourceParts } from '../source.ts'
import { type Connection, openConnection } from './connection.ts'
import { openDiscoveryStream } from './discovery-stream.ts'
import { loadResponse, ResourceError } from './load-response.ts'
import { parseHeaders, parseServerAddress } from './parse-settings.ts'
import {
  configType,
  createSubscription,
  type Envelope,
  hasRequestedType,
  runSubscription,
} from './subscription.ts'
import { createTlsOptions, type XdsTlsFiles } from './tls.ts'
import { createXdsLog } from './xds-log.ts'

export interface XdsSourceOptions extends RuleSourceParts {
  /** CONFIG_GRPC_XDS_SERVER_URL */
  readonly serverUrl: string
  readonly nodeId: string
  readonly nodeMetadata: ReadonlyMap<string, string>
  /** Headers that are sent with every call. */
  readonly headers: ReadonlyMap<string, string>
  /** The time between attempts while the server cannot be reached at all. */
  readonly connectRetryMs: number
  /** The time between retries after failed streams. */
  readonly backoff: BackoffSettings
  readonly maxMessageBytes: number
  /** Undefined for an unencrypted connection. */
  readonly tls: XdsTlsFiles | undefined
  /** MERGE_DOMAIN_CONFIG: whether several resources may contain rules for one domain. */
  readonly mergeDomains: boolean
  readonly connectTimeoutMs?: number
  /** How often to ping a silent server, and how long to wait for the reply. */
  readonly keepaliveIntervalMs?: number
  readonly keepaliveTimeoutMs?: number
  /** Returns a number from 0 up to 1; replaces `Math.random` in tests. */
  readonly random?: () => number
}

/** gRPC servers in Go close a connection on which pings arrive more often than every five minutes. */
const defaultKeepaliveMs = 5 * 60_000 + 5_000

/**
 * Receives rules from a management server, with the state-of-the-world variant of the aggregated discovery
 * service. The rules stay in force while the server is unavailable.
 * @throws Error when a setting is invalid or a certificate cannot be read
 */
export function openXdsSource(options: XdsSourceOptions): RuleSource {
  const { serverUrl, connectRetryMs, maxMessageBytes, log, random = Math.random } = options
  const { onSnapshot, onFailure, counters, mergeDomains } = options
  const { connectTimeoutMs = 10_000, keepaliveIntervalMs = defaultKeepaliveMs } = options
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
  const xdsLog = createXdsLog(log, serverUrl)
  const closing = new AbortController()
  const { signal } = closing
  const firstAttempt = Promise.withResolvers<void>()

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const waitMs = await attempt()
      // Only closing the source ends the wait early.
      await wait(waitMs, undefined, { signal }).catch(() => {})
    }
  }

  /** Handles one connection until it ends; resolves with the time until the next attempt. */
  async function attempt(): Promise<number> {
    let connection: Connection
    try {
      connection = await openConnection(connecting, signal)
    } catch (error) {
      if (!signal.aborted) xdsLog.lost(`${serverUrl} cannot be reached: ${toReason(error)}`)
      return spread(connectRetryMs, options.backoff.randomFactor, random)
    }
    xdsLog.connected()
    const openedMs = performance.now()
    using _ = addAbortListener(signal, () => connection.close())
    try {
      using stream = openDiscoveryStream(connection.session, calling)
      await runSubscription(stream, { subscription, onResponse, load })
    } catch (error) {
      if (!signal.aborted) xdsLog.lost(toReason(error))
    } finally {
      connection.close()
    }
    // A server without new rules sends nothing, so a long-lived stream counts as a success.
    if (performance.now() - openedMs > options.backoff.maxMs) backoff.reset()
    return backoff.nextMs()
  }

  function onResponse(): void {
    backoff.reset()
    xdsLog.answered()
  }

  async function load(
    response: Buffer<ArrayBuffer>,
    envelope: Envelope,
  ): Promise<string | undefined> {
    try {
      if (!hasRequestedType(envelope)) {
        throw new Error(`the response is of type '${envelope.typeUrl}', not ${configType}`)
      }
      const settings = { mergeDomains, counters, onIgnoredOverride, signal }
      const { snapshot, warnings } = await loadResponse(response, settings)
      await xdsLog.rules(snapshot, warnings)
      signal.throwIfAborted()
      onSnapshot(snapshot)
      xdsLog.loaded()
      return undefined
    } catch (error) {
      signal.throwIfAborted()
      const message = toReason(error)
      const faults = error instanceof ResourceError ? error.faults : []
      xdsLog.refused(message, faults)
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

export interface BackoffSettings {
  readonly initialMs: number
  readonly maxMs: number
  /** The random variation of a wait, as a fraction of it; 0 for none. */
  readonly randomFactor: number
}

export interface Backoff {
  /** Returns how long to wait after another failure; each wait is twice as long as the previous one. */
  nextMs(): number
  /** Called after a success: the next wait is the initial one again. */
  reset(): void
}

/** Without a minimum, a server that refuses every stream would cause a busy loop. */
const shortestMs = 10
/** The longest delay of a timer; a longer one would fire immediately. */
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

/** Spreads retries, so that many instances that lost their server do not reconnect at the same moment. */
export function spread(waitMs: number, randomFactor: number, random: () => number): number {
  const factor = 1 + randomFactor * (2 * random() - 1)
  return Math.min(longestMs, Math.max(shortestMs, waitMs * factor))
}
