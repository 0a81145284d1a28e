import { findFreePort, host } from '../free-port.ts'
import { provideProgram } from '../programs/provide-program.ts'
import { fieldOf, redisCommand } from '../redis-command.ts'
import type { Sandbox } from '../sandbox.ts'
import { type Address, type OpenServer, openServer } from '../server.ts'
import { type Service, startService } from '../service.ts'

export interface RedisOptions {
  readonly password?: string
  /** Additional command-line settings: `['--maxmemory', '10mb']`. */
  readonly args?: readonly string[]
}

export interface RedisNode extends Address, Service {}

export interface RedisServer extends RedisNode, OpenServer {}

/** One empty Redis server without persistence. */
export async function openRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const program = await provideProgram('redis-server')
  return openServer({
    name: 'redis',
    build: async (sandbox) =>
      startRedis(sandbox, { ...options, program, port: await findFreePort() }),
  })
}

export interface RedisLaunch extends RedisOptions {
  readonly program: string
  readonly port: number
  /** Its own configuration file, which Redis may write to. */
  readonly configFile?: string
}

/** Starts one Redis process in any role, and waits until it answers. */
export async function startRedis(sandbox: Sandbox, launch: RedisLaunch): Promise<RedisNode> {
  const { program, port, password, configFile, args = [] } = launch
  const settings = [
    ...(configFile === undefined ? [] : [configFile]),
    ...['--port', `${port}`, '--bind', host],
    ...(password === undefined ? [] : ['--requirepass', password]),
    ...args,
  ]
  const storage = args.includes('--sentinel') ? [] : ['--save', '', '--appendonly', 'no']
  const service = await startService({
    start: () => sandbox.start(program, [...settings, ...storage], { name: `redis-${port}` }),
    isReady: async (pid) => {
      const info = await redisCommand({ port, password }, 'INFO', 'server')
      return fieldOf(info, 'process_id') === `${pid}`
    },
  })
  const login = password === undefined ? '' : `:${encodeURIComponent(password)}@`
  return { host, port, url: `redis://${login}${host}:${port}`, ...service }
}
