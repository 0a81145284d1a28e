import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const host = '127.0.0.1'

export interface RatelimitPorts {
  readonly http: number
  readonly grpc: number
  readonly debug: number
}

/** gRPC is moved off 8081, the default that the authentication server has too. */
export const defaultPorts: RatelimitPorts = { http: 8080, grpc: 8082, debug: 6070 }

export interface RunningRatelimit {
  readonly ports: RatelimitPorts
  stop(): Promise<void>
}

/** The service could not start; its own words say why. */
export class RatelimitStartError extends Error {
  override readonly name = 'RatelimitStartError'
}

/** Runs the rate limit service beside us, with the example rules and counters in its memory. */
export async function startRatelimit(ports: RatelimitPorts): Promise<RunningRatelimit> {
  const child = spawn(
    process.execPath,
    [
      join(root, 'packages/ratelimit/src/main.ts'),
      'serve',
      '--rules',
      join(root, 'examples/ratelimit/config'),
    ],
    {
      env: {
        ...process.env,
        HOST: host,
        PORT: `${ports.http}`,
        GRPC_HOST: host,
        GRPC_PORT: `${ports.grpc}`,
        DEBUG_HOST: host,
        DEBUG_PORT: `${ports.debug}`,
        BACKEND_TYPE: 'memory',
        DRAIN_DELAY: '0',
      },
      // A process group of its own: Ctrl-C is ours to pass on.
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const exited = once(child, 'exit')
  let isStopping = false
  const stop = async () => {
    isStopping = true
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT')
    await exited
  }
  process.once('exit', () => child.kill('SIGKILL'))

  let log = ''
  let isReady = false
  const ready = Promise.withResolvers<void>()
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (!isReady) log += text
    else if (!isStopping) process.stderr.write(text)
    if (log.includes('Listening for HTTP on')) ready.resolve()
  })
  child.once('exit', () => ready.reject(new RatelimitStartError(log.trim())))
  await ready.promise
  isReady = true
  const portOf = (name: string) => Number(new RegExp(`for ${name} on '.*:(\\d+)'`).exec(log)?.[1])
  return { ports: { http: portOf('HTTP'), grpc: portOf('gRPC'), debug: portOf('debug') }, stop }
}
