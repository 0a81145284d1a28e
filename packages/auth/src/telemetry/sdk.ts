import process from 'node:process'
import { logDiagnostics } from './diagnostics.ts'
import { createResource } from './resource.ts'
import { noTelemetry, type Telemetry, type TelemetrySettings } from './telemetry.ts'

/** What of OpenTelemetry the configuration asks for. */
export async function openSdk(settings: TelemetrySettings): Promise<Telemetry> {
  const { config, version, log } = settings
  const { observability, openTelemetry } = config
  // OpenTelemetry reads the process's variables; ours may have come from a file.
  for (const [name, value] of Object.entries(openTelemetry.variables)) {
    if (value === '') delete process.env[name]
    else process.env[name] = value
  }
  logDiagnostics(log, openTelemetry.isTalkative)
  const resource = createResource(version, openTelemetry.serviceName)
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
