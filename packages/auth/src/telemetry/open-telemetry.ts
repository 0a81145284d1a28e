import { noTelemetry, type Telemetry, type TelemetrySettings } from './telemetry.ts'

/** OpenTelemetry is loaded here, and only when it is wanted: it is large. */
export async function openTelemetry(settings: TelemetrySettings): Promise<Telemetry> {
  const { tracingEnabled, metrics } = settings.config.observability
  if (!tracingEnabled && metrics === 'none') return noTelemetry
  const { openSdk } = await import('./sdk.ts')
  return await openSdk(settings)
}
