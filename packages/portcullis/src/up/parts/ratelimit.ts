import { provideRules } from '../data-folder.ts'
import type { StartPart } from '../part.ts'
import { toDebugToken } from '../secrets.ts'
import { startService } from '../service-process.ts'

/** Starts the rate limit service with in-memory counters and editable rules. */
export const startRatelimit: StartPart = (context) => {
  const { host, ports, folder, secrets, env } = context
  return startService(context, {
    part: 'ratelimit',
    packageName: '@portcullis/ratelimit',
    args: ['serve', '--rules', provideRules(folder)],
    env: {
      HOST: host,
      PORT: `${ports.ratelimit}`,
      GRPC_HOST: host,
      GRPC_PORT: `${ports.grpc}`,
      DEBUG_HOST: host,
      DEBUG_PORT: `${ports.debug}`,
      DEBUG_TOKEN: toDebugToken(secrets, env),
      // The console replays them against changed rules.
      DEBUG_RECORDED_DECISIONS: '20000',
      BACKEND_TYPE: 'memory',
      LIMIT_RESPONSE_HEADERS_ENABLED: 'true',
      WORKERS: '1',
      // The start waits for a line in the log.
      LOG_LEVEL: 'warning',
      LOG_FORMAT: 'text',
      // No load balancer has to notice the shutdown.
      DRAIN_DELAY: '0',
      DRAIN_TIMEOUT: '500ms',
    },
    isReady: (line) => line.includes('Listening for HTTP on'),
  })
}
