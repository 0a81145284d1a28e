import { randomUUID } from 'node:crypto'
import {
  defaultResource,
  detectResources,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'

/** What this server says of itself. OTEL_RESOURCE_ATTRIBUTES adds to it. */
export function createResource(version: string, serviceName: string): Resource {
  return defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': 'auth',
        'service.version': version,
        'service.instance.id': randomUUID(),
      }),
    )
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector] }))
    .merge(
      resourceFromAttributes({
        'auth.version': version,
        ...(serviceName !== '' && { 'service.name': serviceName }),
      }),
    )
}
