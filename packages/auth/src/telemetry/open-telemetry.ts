import { noTelemetry, type Telemetry, type TelemetrySettings } from './telemetry.ts'

/** OpenTelemetry is large, so it is loaded only if it is enabled. */
export async function openTelemetry(settings: TelemetrySettings): Promise<Telemetry> {
  const { tracingEnabled, metrics } = settings.config.observability
  if (!tracingEnabled && metrics === 'none') return noTelemetry
  const { openSdk } = await import('./sdk.ts')
  return await openSdk(settings)
}
