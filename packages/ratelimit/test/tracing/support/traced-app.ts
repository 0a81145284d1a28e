import process from 'node:process'
import type { TestContext } from 'node:test'
import { openService, type TestApp } from '../../support/service-app.ts'
import type { ServiceOptions } from '../../support/service-process.ts'
import type { Collector } from './collector.ts'
import { rules, toTracedEnvironment } from './traced-service.ts'

/** Like `startTraced`, without a separate process. */
export async function openTraced(
  t: TestContext,
  collector: Pick<Collector, 'endpoint'>,
  more: ServiceOptions['env'] = {},
): Promise<TestApp> {
  const env = toTracedEnvironment(collector, more)
  // OpenTelemetry itself reads its variables when it is opened.
  const own = Object.keys(env).filter((name) => name.startsWith('OTEL_EXPORTER_'))
  for (const name of own) process.env[name] = env[name]
  try {
    return await openService(t, { rules, env })
  } finally {
    for (const name of own) delete process.env[name]
  }
}
