import { once } from 'node:events'
import { createServer } from 'node:net'
import { toCode } from '@portcullis/service-kit/text/reason'
import { UpRefusal } from './errors.ts'
import {
  type ListenerName,
  listeners,
  type PartName,
  type Ports,
  toFlag,
  toListenerNames,
} from './ports.ts'

interface PortSettings {
  readonly host: string
  /** 0 stands for any free port. */
  readonly ports: Ports
  readonly has: ReadonlySet<PartName>
  /** The command line with which `up` was called, for the suggested command: `portcullis up`. */
  readonly callName: string
  /** The given options, which the suggested command keeps. */
  readonly given: ReadonlyMap<string, string>
}

interface UnavailablePort {
  readonly name: ListenerName
  readonly port: number
  readonly reason: string
}

/**
 * Checks every port before anything is started, and picks a free port where any will do.
 * @throws {UpRefusal} that names each unavailable port and the option that changes it
 */
export async function findOpenPorts(settings: PortSettings): Promise<Ports> {
  const { host, ports, has } = settings
  const names = toListenerNames(has)
  const unavailable: UnavailablePort[] = []
  for (const name of names) {
    const port = ports[name]
    const reason = port === 0 ? undefined : await findObstacle(host, port)
    if (reason !== undefined) unavailable.push({ name, port, reason })
  }
  if (unavailable.length > 0) throw await toRefusal(unavailable, settings)

  const chosen: Record<ListenerName, number> = { ...ports }
  const taken = new Set(Object.values(ports))
  for (const name of names) {
    if (chosen[name] === 0) chosen[name] = await findFreePort(host, toRandomPort, taken)
  }
  return chosen
}

/** @returns undefined if the port is available. */
async function findObstacle(host: string, port: number): Promise<string | undefined> {
  const code = await tryToListen(host, port)
  if (code === 'EADDRINUSE') return 'is in use'
  if (code === 'EACCES') return 'requires more privileges'
  if (code === 'EADDRNOTAVAIL') {
    throw new UpRefusal(`--host ${host} is not an address of this machine. Nothing was started.`)
  }
  if (code !== undefined) return `is not available (${code})`
  // Browsers resolve localhost to both addresses, so no other server may listen on ::1.
  const isShared = host === '127.0.0.1' && (await tryToListen('::1', port)) === 'EADDRINUSE'
  return isShared ? 'is in use (on ::1)' : undefined
}

/** @returns the error code if listening fails. */
async function tryToListen(host: string, port: number): Promise<string | undefined> {
  const server = createServer()
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
  } catch (error) {
    return toCode(error) || String(error)
  }
  await once(server.close(), 'close')
  return undefined
}

/** Below the ephemeral port range, so the system does not assign the port before the part listens on it. */
function toRandomPort(): number {
  return 20_000 + Math.floor(Math.random() * 12_000)
}

async function findFreePort(
  host: string,
  toCandidate: (attempt: number) => number,
  taken: Set<number>,
): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = toCandidate(attempt)
    if (port > 65_535 || taken.has(port)) continue
    if ((await findObstacle(host, port)) !== undefined) continue
    taken.add(port)
    return port
  }
  throw new UpRefusal(`No free port found on ${host}. Nothing was started.`)
}

async function toRefusal(
  unavailable: readonly UnavailablePort[],
  { host, ports, callName, given }: PortSettings,
): Promise<UpRefusal> {
  const taken = new Set(Object.values(ports))
  const lines: string[] = []
  const options = new Map(given)
  for (const { name, port, reason } of unavailable) {
    // If a port is privileged, its neighbours are too.
    const first = port < 1024 ? listeners[name].port : port + 1
    const free = await findFreePort(host, (attempt) => first + attempt, taken)
    const flag = toFlag(name)
    lines.push(`Port ${port} (${listeners[name].what}) ${reason}. Choose another with --${flag}.`)
    options.set(flag, `${free}`)
  }
  const wayOut = `  ${callName} ${[...options].map(toArgument).join(' ')}`
  return new UpRefusal(
    `${lines.join('\n')}\nNothing was started. These ports are free:\n\n${wayOut}`,
  )
}

/** Quotes the value for a shell; flags have no value. */
function toArgument([name, value]: readonly [name: string, value: string]): string {
  if (value === '') return `--${name}`
  const isPlain = /^[\w@%+=:,./-]+$/.test(value)
  return `--${name} ${isPlain ? value : `'${value.replaceAll("'", "'\\''")}'`}`
}
