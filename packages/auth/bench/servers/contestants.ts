import { createHmac } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { limitCores } from '@portcullis/bench-kit/core-limit'
import type { PeerOf } from '@portcullis/bench-kit/peer'
import type { Program, Target } from '@portcullis/bench-kit/server-process'
import { password } from '../load/requests.ts'
import type { DatabaseServer } from './database-server.ts'
import {
  audience,
  jwtSecret,
  portcullisOnly,
  serverPoolSize,
  toEnvironment,
} from './environment.ts'
import { ourProgram, readHealth, startServer } from './server-process.ts'

export interface RunningPeer {
  readonly target: Target
  readonly pid: number
  readonly databaseUrl: string
}

export type Peer = PeerOf<RunningPeer>

/** `workers` is our server with several workers. */
export type ContestantName = 'ours' | 'workers' | 'peer'

/** A running server with its own database. */
export interface Contestant extends AsyncDisposable {
  readonly name: ContestantName
  readonly label: string
  /** Processes that serve requests. */
  readonly workers: number
  readonly pid: number
  readonly databasePid: number
  readonly target: Target
  readonly databaseUrl: string
}

export interface Wanted {
  readonly peer: Peer
  /** With how many workers our server is measured too; 1: it is not. */
  readonly workers: number
  /** The cores that each worker may use, which may be a fraction. Default: all. */
  readonly workerCores?: number | undefined
}

export async function openContestants(
  { peer, workers, workerCores }: Wanted,
  databases: DatabaseServer,
): Promise<readonly Contestant[]> {
  await using opened = new AsyncDisposableStack()
  const openOurs = (name: ContestantName, count: number) =>
    open(name, ourProgram, databases, { workers: count, workerCores })
  const contestants = [opened.use(await openOurs('ours', 1))]
  if (workers > 1) contestants.push(opened.use(await openOurs('workers', workers)))
  if (peer.kind !== 'none') contestants.push(opened.use(await openPeer(peer, databases)))
  // From here on, the caller closes them.
  opened.move()
  return contestants
}

async function openPeer(
  peer: Exclude<Peer, { kind: 'none' }>,
  databases: DatabaseServer,
): Promise<Contestant> {
  if (peer.kind === 'running') {
    const { host, port } = peer.target
    const serverName = await readHealth(peer.target)
    if (serverName === undefined) {
      throw new Error(`The peer at ${host}:${port} does not respond to /health`)
    }
    const { target, pid, databaseUrl } = peer
    const where = { target, pid, databaseUrl, databasePid: databases.pid }
    return {
      name: 'peer',
      label: `peer: ${serverName}`,
      workers: 1,
      ...where,
      async [Symbol.asyncDispose]() {},
    }
  }
  const file = resolve(peer.file)
  // The migrations folder is next to the program.
  const program: Program = { file, args: [], folder: dirname(file) }
  return open('peer', program, databases)
}

const labels: Readonly<Record<ContestantName, (serverName: string, workers: number) => string>> = {
  ours: () => 'portcullis',
  workers: (_, workers) => `portcullis, ${workers} workers`,
  // The peer may be any version, so its label comes from its health response.
  peer: (serverName) => `peer: ${serverName}`,
}

async function open(
  name: ContestantName,
  program: Program,
  databases: DatabaseServer,
  { workers = 1, workerCores }: Partial<Omit<Wanted, 'peer'>> = {},
): Promise<Contestant> {
  const databaseUrl = await databases.createDatabase(`bench_${name}`)
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-bench-'))
  const removeFolder = () => rm(folder, { recursive: true, force: true })
  try {
    const server = await startServer({
      program,
      logFile: join(folder, 'server.log'),
      toEnvironment: (port) => ({
        ...toEnvironment({ databaseUrl, port, poolSize: Math.ceil(serverPoolSize / workers) }),
        ...(name !== 'peer' && { ...portcullisOnly, AUTH_WORKERS: `${workers}` }),
      }),
    })
    const limit =
      workerCores === undefined ? undefined : await limitCores(server.pid, workerCores * workers)
    return {
      name,
      label: labels[name](server.serverName, workers),
      workers,
      pid: server.pid,
      databasePid: databases.pid,
      target: server.target,
      databaseUrl,
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]()
        await limit?.remove()
        await removeFolder()
      },
    }
  } catch (error) {
    await removeFolder()
    throw error
  }
}

/** A signed-up user with the tokens of the session. */
export interface Member {
  readonly email: string
  readonly accessToken: string
  readonly refreshToken: string
}

export async function signUpMembers(target: Target, count: number): Promise<readonly Member[]> {
  const members: Member[] = []
  for (let n = 0; n < count; n++) {
    const email = `member-${n}@bench.example`
    const response = await fetch(`http://${target.host}:${target.port}/signup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    })
    const body = await response.text()
    const { access_token: accessToken, refresh_token: refreshToken } = response.ok
      ? JSON.parse(body)
      : {}
    if (typeof accessToken !== 'string' || typeof refreshToken !== 'string') {
      throw new Error(`A sign-up returned ${response.status} ${body.slice(0, 200)}`)
    }
    members.push({ email, accessToken, refreshToken })
  }
  return members
}

/** A token for the admin endpoints of both servers. */
export function createServiceToken(): string {
  const toSegment = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const issuedAt = Math.floor(Date.now() / 1000)
  const claims = { role: 'service_role', aud: audience, iat: issuedAt, exp: issuedAt + 86_400 }
  const data = `${toSegment({ alg: 'HS256', typ: 'JWT' })}.${toSegment(claims)}`
  return `${data}.${createHmac('sha256', jwtSecret).update(data).digest('base64url')}`
}
