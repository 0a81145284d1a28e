import { startChild } from './child.ts'
import { type ContenderName, contenders } from './contenders.ts'
import { nodeOf } from './installs.ts'
import type { GraphqlMajor } from './one-graphql.ts'

/** What a server process has consumed since its start. */
export interface Usage {
  readonly cpuSeconds: number
}

export interface ServerProcess {
  readonly name: ContenderName
  readonly port: number
  readUsage(): Promise<Usage>
  stop(): void
}

/** Starts a contender in a process of its own, and waits until it listens. */
export async function startServer(
  name: ContenderName,
  graphql: GraphqlMajor,
): Promise<ServerProcess> {
  const { file, home } = contenders[name]
  const child = startChild('serve.ts', [file, String(graphql)], { execPath: nodeOf(home) })
  try {
    const { port } = await child.hear<{ port: number }>()
    return { name, port, readUsage: () => child.ask('usage'), stop: child.stop }
  } catch (error) {
    child.stop()
    throw error
  }
}
