import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runtime } from '../runtimes.ts'
import { childHost } from './child-host.ts'
import type { Host, Limits } from './host.ts'

const fetchServer = fileURLToPath(new URL('./children/fetch-server.ts', import.meta.url))
const uwsServer = fileURLToPath(new URL('./children/uws-server.ts', import.meta.url))
const limits: Limits = {
  noResponseHandle: 'a fetch handler returns its response',
  noStatusText: 'the runtime sends its own',
}

export const uwsHost = childHost('uWebSockets', () => [
  runtime('node22'),
  uwsServer,
  join(runtime('uws-pack'), 'dist/index.mjs'),
])

export const otherRuntimeHosts: readonly Host[] = [
  childHost(
    'fetch on Deno',
    () => [
      runtime('deno'),
      'run',
      '--no-lock',
      '--no-remote',
      '--allow-net',
      '--allow-read',
      '--allow-env',
      fetchServer,
    ],
    limits,
  ),
  childHost('fetch on Bun', () => [runtime('bun'), fetchServer], limits),
  uwsHost,
]
