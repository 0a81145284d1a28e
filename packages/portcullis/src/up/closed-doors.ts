import { once } from 'node:events'
import { createServer } from 'node:net'
import { UpRefusal } from './errors.ts'
import { type DoorName, doors, type PartName, type Ports, toDoorNames, toFlag } from './ports.ts'

interface DoorSettings {
  readonly host: string
  /** 0 stands for a free one. */
  readonly ports: Ports
  readonly has: ReadonlySet<PartName>
  /** How people call us, for the way out: `portcullis up`. */
  readonly callName: string
  /** Which options they gave: the way out keeps them. */
  readonly given: ReadonlyMap<string, string>
}

interface ClosedDoor {
  readonly name: DoorName
  readonly port: number
  readonly reason: string
}

/**
 * Tries every door before anything is started, and chooses the ports that may be any.
 * @throws {UpRefusal} that names each that cannot be had, and how to move it
 */
export async function findOpenPorts(settings: DoorSettings): Promise<Ports> {
  const { host, ports, has } = settings
  const names = toDoorNames(has)
  const closed: ClosedDoor[] = []
  for (const name of names) {
    const port = ports[name]
    const reason = port === 0 ? undefined : await findObstacle(host, port)
    if (reason !== undefined) closed.push({ name, port, reason })
  }
  if (closed.length > 0) throw await toRefusal(closed, settings)

  const chosen: Record<DoorName, number> = { ...ports }
  const taken = new Set(Object.values(ports))
  for (const name of names) {
    if (chosen[name] === 0) chosen[name] = await findFreePort(host, toRandomPort, taken)
  }
  return chosen
}

/** Undefined when we could listen there. */
async function findObstacle(host: string, port: number): Promise<string | undefined> {
  const code = await tryToListen(host, port)
  if (code === 'EADDRINUSE') return 'is in use'
  if (code === 'EACCES') return 'is reserved by the system'
  if (code === 'EADDRNOTAVAIL') {
    throw new UpRefusal(`--host ${host} is no address of this machine. Nothing was started.`)
  }
  if (code !== undefined) return `cannot be had (${code})`
  // Browsers try both when they are sent to localhost: there must be nobody else behind the name.
  const isShared = host === '127.0.0.1' && (await tryToListen('::1', port)) === 'EADDRINUSE'
  return isShared ? 'is in use (on ::1)' : undefined
}

/** @returns the code of what went wrong */
async function tryToListen(host: string, port: number): Promise<string | undefined> {
  const server = createServer()
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
  await once(server.close(), 'close')
  return undefined
}

/** Below those that systems hand out by themselves: nobody is given it before we listen there. */
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
  throw new UpRefusal(`There is no free port on ${host}. Nothing was started.`)
}

async function toRefusal(
  closed: readonly ClosedDoor[],
  { host, ports, callName, given }: DoorSettings,
): Promise<UpRefusal> {
  const taken = new Set(Object.values(ports))
  const lines: string[] = []
  const options = new Map(given)
  for (const { name, port, reason } of closed) {
    // A reserved one has reserved neighbours.
    const first = port < 1024 ? doors[name].port : port + 1
    const free = await findFreePort(host, (attempt) => first + attempt, taken)
    const flag = toFlag(name)
    lines.push(`Port ${port} ${reason}: ${doors[name].what} cannot have it. --${flag} moves it.`)
    options.set(flag, `${free}`)
  }
  const wayOut = `  ${callName} ${[...options].map(toArgument).join(' ')}`
  return new UpRefusal(`${lines.join('\n')}\nNothing was started. These are free:\n\n${wayOut}`)
}

/** As a shell takes it; a switch has no value. */
function toArgument([name, value]: readonly [name: string, value: string]): string {
  if (value === '') return `--${name}`
  const isPlain = /^[\w@%+=:,./-]+$/.test(value)
  return `--${name} ${isPlain ? value : `'${value.replaceAll("'", "'\\''")}'`}`
}
