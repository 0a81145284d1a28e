import { startChild } from '@portcullis/bench-kit/child'
import { type ContenderName, contenders } from './contenders.ts'
import { nodeOf } from './installs.ts'
import type { GraphqlMajor } from './one-graphql.ts'

/** The resources that a server process has used since its start. */
export interface Usage {
  readonly cpuSeconds: number
}

export interface ServerProcess extends Disposable {
  readonly name: ContenderName
  readonly port: number
  readUsage(): Promise<Usage>
}

/** Production settings, since some servers perform extra checks in development. */
export const productionEnvironment = { NODE_ENV: 'production' }

/** Starts a contender in its own process and waits until it listens. */
export async function startServer(
  name: ContenderName,
  graphql: GraphqlMajor,
): Promise<ServerProcess> {
  const { file, home } = contenders[name]
  const child = startChild(new URL('./serve.ts', import.meta.url), {
    args: [file, String(graphql)],
    execPath: nodeOf(home),
    env: productionEnvironment,
    replyTimeoutSeconds: 60,
  })
  const stop = () => child[Symbol.dispose]()
  try {
    const { port } = await child.receive<{ port: number }>()
    return { name, port, readUsage: () => child.request('usage'), [Symbol.dispose]: stop }
  } catch (error) {
    stop()
    throw error
  }
}
