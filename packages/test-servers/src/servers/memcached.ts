import { once } from 'node:events'
import { connect } from 'node:net'
import { findFreePort, host } from '../free-port.ts'
import { provideProgram } from '../programs/provide-program.ts'
import { type Address, type OpenServer, openServer } from '../server.ts'
import { type Service, startService } from '../service.ts'

export interface MemcachedOptions {
  /** Additional command-line arguments: `['-m', '16']`. */
  readonly args?: readonly string[]
}

export interface MemcachedServer extends Address, Service, OpenServer {}

export async function openMemcached(options: MemcachedOptions = {}): Promise<MemcachedServer> {
  const program = await provideProgram('memcached')
  return openServer({
    name: 'memcached',
    build: async (sandbox) => {
      const port = await findFreePort()
      // memcached refuses to run as root without the option -u, which may name root.
      const user = process.getuid?.() === 0 ? ['-u', 'root'] : []
      const args = ['-l', host, '-p', `${port}`, '-U', '0', ...user, ...(options.args ?? [])]
      const service = await startService({
        start: () => sandbox.start(program, args, { name: 'memcached' }),
        isReady: async (pid) => (await readPid(port)) === pid,
      })
      return { host, port, url: `memcached://${host}:${port}`, ...service }
    },
  })
}

async function readPid(port: number): Promise<number | undefined> {
  const socket = connect({ host, port, noDelay: true })
  socket.setTimeout(2000, () => socket.destroy())
  try {
    await once(socket, 'connect')
    socket.write('stats\r\n')
    let answer = ''
    for await (const chunk of socket) {
      answer += chunk
      const pid = /^STAT pid (\d+)\r$/m.exec(answer)?.[1]
      if (pid !== undefined) return Number(pid)
    }
    return undefined
  } finally {
    socket.destroy()
  }
}
