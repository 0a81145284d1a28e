import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

// Node 22 says on standard error that it strips types, which published code does not need.
const nodeFlags = ['--disable-warning=ExperimentalWarning']
const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

export interface CommandRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command as its users do: a process of its own, its output in pipes. */
export async function runCommand(
  args: readonly string[],
  env: { readonly [name: string]: string } = {},
): Promise<CommandRun> {
  const child = spawn(process.execPath, [...nodeFlags, main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { code, stdout, stderr }
}

/** A server of the test's own making, closed with the test. */
export async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}/graphql`
}
