import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Command } from '@portcullis/service-kit/command'
import { type DoorName, doors, type PartName, type Ports } from '../up/ports.ts'
import { provideSecrets } from '../up/secrets.ts'
import { startAll } from '../up/up.ts'

const usage = `Usage: portcullis up [--data DIR] [--port-base N]

Starts everything on this machine.
`

/** First version. */
export function createUp(version: string): Command {
  return {
    summary: 'start everything on this machine',
    usage,
    async run(args, io) {
      const { values } = parseArgs({
        args: [...args],
        options: {
          data: { type: 'string', default: '.portcullis' },
          'port-base': { type: 'string' },
        },
      })
      const folder = resolve(values.data)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const base = values['port-base']
      const names = Object.keys(doors) as DoorName[]
      const ports = Object.fromEntries(
        names.map((name, index) => [
          name,
          base === undefined ? doors[name].port : Number(base) + index,
        ]),
      ) as unknown as Ports
      const has = new Set<PartName>(['auth', 'ratelimit', 'graphql', 'console'])
      const secrets = provideSecrets(folder)
      const running = await startAll({ host: '127.0.0.1', ports, folder, secrets, version, has })
      io.stdout.write(`Console http://localhost:${ports.console}/?token=${secrets.consoleToken}\n`)
      await new Promise((stop) => process.once('SIGINT', stop).once('SIGTERM', stop))
      await running.stop()
      return 0
    },
  }
}
