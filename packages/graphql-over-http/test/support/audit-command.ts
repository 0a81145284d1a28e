import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseArguments } from '../../src/cli/args.ts'
import { runAuditCommand } from '../../src/cli/audit-command.ts'
import { CommandError } from '../../src/cli/command-error.ts'

// Node 22 prints a warning when it strips types, which published code does not need.
const nodeFlags = ['--disable-warning=ExperimentalWarning']
const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

export interface CommandRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command as its users do: in its own process, with its output in pipes. */
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

/**
 * Runs the command without a process, for tests that do not need `main.ts`, which only reads the
 * arguments and the terminal and sets the exit code.
 */
export async function runAudit(args: readonly string[]): Promise<CommandRun> {
  const written = { stdout: '', stderr: '' }
  const into = (name: keyof typeof written) => ({
    write(text: string) {
      written[name] += text
    },
  })
  try {
    const parsed = parseArguments(args)
    if (parsed.command !== 'audit') throw new Error(`Not an audit: ${args.join(' ')}`)
    const code = await runAuditCommand(parsed, {
      stdout: into('stdout'),
      stderr: into('stderr'),
      color: false,
      showsProgress: false,
    })
    return { code, ...written }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { code: 2, ...written, stderr: `${written.stderr}${error.message}\n` }
  }
}

/** Starts a server with the given listener and closes it with the test. */
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
