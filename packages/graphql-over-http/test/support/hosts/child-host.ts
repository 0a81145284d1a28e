import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Host, Limits, OpenHost } from './host.ts'
import type { Findings } from './probe.ts'

/** A program and its arguments. */
export type Command = readonly [program: string, ...args: string[]]

/**
 * A host that needs another runtime and therefore its own process. The process prints its port,
 * serves its findings at `/probe`, and exits when its standard input closes, which happens when its
 * parent exits.
 */
export function childHost(
  name: string,
  toCommand: () => Command | Promise<Command>,
  limits: Limits = {},
): Host {
  return {
    name,
    transport: 'HTTP/1',
    limits,
    async open(): Promise<OpenHost> {
      const [program, ...args] = await toCommand()
      const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
      let complaints = ''
      child.stderr.on('data', (data) => {
        complaints += data
      })
      const exit = once(child, 'exit')
      const port = await new Promise<number>((resolve, reject) => {
        createInterface(child.stdout).once('line', (line) => resolve(Number(line)))
        exit.then(
          ([code]) => reject(new Error(`${name} ended with ${code}: ${complaints}`)),
          reject,
        )
      })
      const origin = `http://127.0.0.1:${port}`
      return {
        origin,
        port,
        fetch: (input, init) => fetch(input, init),
        async take() {
          const response = await fetch(`${origin}/probe`)
          const findings: Findings = await response.json()
          return findings
        },
        async close() {
          child.kill()
          await exit
        },
      }
    },
  }
}
