import { randomUUID } from 'node:crypto'
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import type { OpenTelemetryConfig } from '../config/open-telemetry.ts'
import { logDiagnostics } from './reporting.ts'
import { noTelemetry, type Telemetry, type TelemetrySettings } from './telemetry.ts'

/** Opens the parts of OpenTelemetry that are enabled. */
export async function openSdk(settings: TelemetrySettings): Promise<Telemetry> {
  const { config, version, log } = settings
  const { observability, openTelemetry } = config
  logDiagnostics(log, openTelemetry.isVerbose)
  const resource = createResource(version, openTelemetry)
  const tracing = observability.tracingEnabled
    ? await (await import('./tracing.ts')).openTracing({ ...settings, resource })
    : undefined
  const openMetrics = async () =>
    observability.metrics === 'none'
      ? undefined
      : (await import('./metrics.ts')).openMetrics({ ...settings, resource })
  const metrics = await openMetrics().catch(async (error) => {
    await tracing?.[Symbol.asyncDispose]()
    throw error
  })
  return {
    ...noTelemetry,
    ...metrics?.counters,
    calls: [tracing?.calls, metrics?.calls].filter((watch) => watch !== undefined),
    watchStatement: watchBoth(tracing?.watchStatement, metrics?.watchStatement),
    async flush(giveUp) {
      await Promise.all([tracing?.flush(giveUp), metrics?.flush(giveUp)])
    },
    async [Symbol.asyncDispose]() {
      await metrics?.[Symbol.asyncDispose]()
      await tracing?.[Symbol.asyncDispose]()
    },
  }
}

type WatchStatement = Telemetry['watchStatement']

function watchBoth(one: WatchStatement, other: WatchStatement): WatchStatement {
  if (one === undefined || other === undefined) return one ?? other
  return (name) => {
    const [endOne, endOther] = [one(name), other(name)]
    return (error) => {
      endOne(error)
      endOther(error)
    }
  }
}

/** The resource attributes of this server; OTEL_RESOURCE_ATTRIBUTES adds to them. */
function createResource(version: string, config: OpenTelemetryConfig): Resource {
  const { serviceName, variables } = config
  return defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': 'auth',
        'service.version': version,
        'service.instance.id': randomUUID(),
      }),
    )
    .merge(resourceFromAttributes(parseAttributes(variables['OTEL_RESOURCE_ATTRIBUTES'] ?? '')))
    .merge(
      resourceFromAttributes({
        'auth.version': version,
        ...(serviceName !== '' && { 'service.name': serviceName }),
      }),
    )
}

const longestAttribute = 255

/**
 * Parses `key=value,key=value`, percent-encoded. As the specification requires, all are ignored if
 * one is malformed.
 */
function parseAttributes(text: string): Record<string, string> {
  const attributes: Record<string, string> = {}
  for (const pair of text.split(',').filter((each) => each.trim() !== '')) {
    const [key, value, ...others] = pair.split('=').map(decode)
    if (!key || value === undefined || others.length > 0) return {}
    if (key.length > longestAttribute || value.length > longestAttribute) return {}
    attributes[key] = value
  }
  return attributes
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.trim())
  } catch {
    return undefined
  }
}
